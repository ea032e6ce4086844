package drivertest

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/stampede-bench/stampede/drivers"
)

// A listener is a watch that records its events.
type listener struct {
	mu    sync.Mutex
	heard []drivers.Event
	first chan struct{} // closed by the first event
}

func listen() *listener { return &listener{first: make(chan struct{})} }

// hear is the [drivers.Watch].
func (l *listener) hear(e drivers.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.heard = append(l.heard, e)
	if len(l.heard) == 1 {
		close(l.first)
	}
}

func (l *listener) events() []drivers.Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.heard)
}

// expect waits for the first event, which must be the given one.
func (l *listener) expect(ctx context.Context, want drivers.EventType, path string) error {
	select {
	case <-l.first:
	case <-ctx.Done():
		return fmt.Errorf("timed out waiting for a watch on %s to fire: %s", path, want)
	}
	e := l.events()[0]
	if e.Type != want || want != drivers.Lost && e.Path != path {
		return fmt.Errorf("the watch on %s got event %s %s, want %s", path, e.Path, e.Type, want)
	}
	return nil
}

// hears is like told, for the case's own goroutine.
func (x *trial) hears(ctx context.Context, l *listener, want drivers.EventType, path string) drivers.Event {
	x.Helper()
	if err := l.expect(ctx, want, path); err != nil {
		x.Fatal(err)
	}
	return l.events()[0]
}

// expectCalls checks the events that the listener has got so far: none if no types are given.
func (x *trial) expectCalls(l *listener, what string, want ...drivers.EventType) {
	x.Helper()
	var got []drivers.EventType
	for _, e := range l.events() {
		got = append(got, e.Type)
	}
	if !slices.Equal(got, want) {
		x.Fatalf("%s: the watch got %v, want %v", what, got, want)
	}
}
