package drivers

import (
	"context"
	"sync"
)

// A Spot shows whether one client is parked, that is, waits. A caller that brings several
// clients to rest gives each one a Spot of its own with [WithSpot] and inspects it. Await
// and Pause work without a Spot too: they then park nowhere.
type Spot struct {
	// Ticks, set before use, makes Pause wait for Tick instead of a timer.
	Ticks bool

	mu     sync.Mutex
	parked bool
	moves  uint64
	tick   chan struct{} // ends the Pause that is parked here
}

type spotKey struct{}

// WithSpot returns a context under which every Await and Pause parks on s.
func WithSpot(ctx context.Context, s *Spot) context.Context {
	return context.WithValue(ctx, spotKey{}, s)
}

func spotOf(ctx context.Context) *Spot {
	s, _ := ctx.Value(spotKey{}).(*Spot)
	return s
}

// Parked reports whether the client waits for a watch that has not fired or a tick that
// has not come, and how often it has parked or left so far. If moves has not changed
// between two calls, the client has not moved in between.
func (s *Spot) Parked() (parked bool, moves uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.parked, s.moves
}

// Tick ends the Pause that is parked here and reports whether there was one.
func (s *Spot) Tick() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tick == nil {
		return false
	}
	close(s.tick)
	s.tick, s.parked = nil, false
	s.moves++
	return true
}

func (s *Spot) ticked() bool { return s != nil && s.Ticks }

func (s *Spot) park(tick chan struct{}) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.parked, s.tick = true, tick
	s.moves++
}

func (s *Spot) leave() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.parked, s.tick = false, nil
	s.moves++
}
