package faults

import "sync"

// A Gate stops who comes to it while it is shut. The zero Gate is open.
type Gate struct {
	mu    sync.Mutex
	opens chan struct{} // nil while it is open
}

// Shut shuts the gate.
func (g *Gate) Shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.opens == nil {
		g.opens = make(chan struct{})
	}
}

// Open lets go on who stands at it, and who comes.
func (g *Gate) Open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.opens != nil {
		close(g.opens)
		g.opens = nil
	}
}

// Opens is closed when the gate opens; nil if it is not shut.
func (g *Gate) Opens() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.opens
}

// Pass waits until the gate is open.
func (g *Gate) Pass() {
	if opens := g.Opens(); opens != nil {
		<-opens
	}
}
