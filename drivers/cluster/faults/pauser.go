package faults

import "sync"

// A Pauser blocks the goroutines that call Wait while it is paused. The zero Pauser is not.
type Pauser struct {
	mu      sync.Mutex
	resumed chan struct{} // nil while it is not paused
}

// Pause blocks callers of Wait from now on.
func (p *Pauser) Pause() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.resumed == nil {
		p.resumed = make(chan struct{})
	}
}

// Resume wakes the waiting goroutines.
func (p *Pauser) Resume() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.resumed != nil {
		close(p.resumed)
		p.resumed = nil
	}
}

// Wait waits until the Pauser is not paused and returns true, or until give is closed and returns
// false. A nil give is never closed.
func (p *Pauser) Wait(give <-chan struct{}) bool {
	for resumed := p.paused(); resumed != nil; resumed = p.paused() {
		select {
		case <-resumed:
		case <-give:
			return false
		}
	}
	return true
}

// paused returns a channel that is closed by Resume; nil if the Pauser is not paused.
func (p *Pauser) paused() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.resumed
}
