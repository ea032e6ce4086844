package drivers

import (
	"context"
	"sync"
)

// A Spot is where one client parks while it waits. Whoever drives several
// clients to rest gives each a Spot of its own with [WithSpot] and looks at it.
// All methods work on a nil Spot, which knows nothing.
type Spot struct {
	// Ticks, set before use, makes Pause wait for Tick instead of a timer.
	Ticks bool

	mu     sync.Mutex
	parked bool
	moves  uint64
	tick   chan struct{} // ends the Pause that is parked here
}

type spotKey struct{}

// WithSpot makes every Await and Pause under the context park on the spot.
func WithSpot(ctx context.Context, s *Spot) context.Context {
	return context.WithValue(ctx, spotKey{}, s)
}

func spotOf(ctx context.Context) *Spot {
	s, _ := ctx.Value(spotKey{}).(*Spot)
	return s
}

// Parked tells whether the client waits here for a watch that has not fired or
// a tick that has not come, and how often it has parked or left so far: an
// unchanged number between two looks says that it did not move in between.
func (s *Spot) Parked() (parked bool, moves uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.parked, s.moves
}

// Tick ends the Pause that is parked here and tells whether there was one.
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
