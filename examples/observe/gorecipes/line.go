package main

import (
	"slices"
	"sync"
)

// A state is what a client does.
type state int

const (
	arriving state = iota
	waiting
	holding
	finished
)

// A line knows the state of each client. It lets a holder work until all other clients wait or
// have finished, so that one change is made at a time and the counts are the same in each run.
type line struct {
	mu      sync.Mutex
	changed *sync.Cond
	states  []state
}

func newLine(clients int) *line {
	l := &line{states: make([]state, clients)}
	l.changed = sync.NewCond(&l.mu)
	return l
}

func (l *line) set(client int, to state) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.states[client] = to
	l.changed.Broadcast()
}

// awaitOthers returns when no client is arriving.
func (l *line) awaitOthers() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for slices.Contains(l.states, arriving) {
		l.changed.Wait()
	}
}

// awaitFirst returns when the first client has arrived, and so has created what all share.
func (l *line) awaitFirst() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.states[0] == arriving {
		l.changed.Wait()
	}
}
