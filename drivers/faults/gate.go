package faults

import "sync"

// A Gate blocks the goroutines that call Pass while it is shut. The zero Gate is open.
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

// Open opens the gate and wakes the waiting goroutines.
func (g *Gate) Open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.opens != nil {
		close(g.opens)
		g.opens = nil
	}
}

// Pass waits until the gate is open and returns true, or until give is closed and returns false. A
// nil give is never closed.
func (g *Gate) Pass(give <-chan struct{}) bool {
	for opens := g.shut(); opens != nil; opens = g.shut() {
		select {
		case <-opens:
		case <-give:
			return false
		}
	}
	return true
}

// shut returns a channel that is closed when the gate opens; nil if the gate is open.
func (g *Gate) shut() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.opens
}
