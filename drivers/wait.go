package drivers

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// A Wait waits for one watch. Give Fire to the call that arms the watch, then call Await.
// The zero Wait is ready to use. It serves one watch.
type Wait struct {
	mu    sync.Mutex
	fired bool
	event Event
	nap   *nap // what Fire ends, nil if no goroutine waits
}

// Fire is the [Watch] of this wait. Only the first event counts.
func (w *Wait) Fire(e Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fired {
		return
	}
	w.fired, w.event = true, e
	if w.nap != nil {
		w.nap.end()
	}
}

// Fired reports whether the watch has fired.
func (w *Wait) Fired() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.fired
}

// Await blocks until the watch has fired or the context ends. If the watch fired because
// the session was lost, Await returns ErrSessionLost.
func (w *Wait) Await(ctx context.Context) (Event, error) {
	_, err := AwaitAny(ctx, w)
	if err != nil && !errors.Is(err, ErrSessionLost) {
		return Event{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.event, err
}

// AwaitAny is Await for several waits. It returns the index of the wait that has fired,
// and the lowest one if several have. The others can be awaited again.
func AwaitAny(ctx context.Context, waits ...*Wait) (fired int, err error) {
	n := &nap{spot: spotOf(ctx), wake: make(chan struct{})}
	for _, w := range waits {
		w.wakes(n)
	}
	defer func() {
		for _, w := range waits {
			w.wakes(nil)
		}
	}()
	n.begin()
	select {
	case <-n.wake:
	case <-ctx.Done():
		if n.giveUp() {
			return 0, context.Cause(ctx)
		}
	}
	fired = slices.IndexFunc(waits, (*Wait).Fired)
	if waits[fired].event.Type == Lost {
		return fired, ErrSessionLost
	}
	return fired, nil
}

// wakes sets the nap that the watch ends, nil for none. If the watch has fired already,
// wakes ends the nap.
func (w *Wait) wakes(n *nap) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.nap = n
	if w.fired && n != nil {
		n.end()
	}
}

// A nap is the sleep of one client until a watch wakes it.
type nap struct {
	mu     sync.Mutex
	parked bool
	ended  bool
	spot   *Spot
	wake   chan struct{} // closed at the end
}

// begin parks, unless the nap has ended already.
func (n *nap) begin() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.ended {
		n.parked = true
		n.spot.park(nil)
	}
}

// end leaves the spot before the sleeping goroutine can run: an observer of the spot must
// never find a client parked whose watch has fired.
func (n *nap) end() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ended {
		return
	}
	n.ended = true
	if n.parked {
		n.spot.leave()
	}
	close(n.wake)
}

// giveUp ends the nap and reports whether it had not ended before.
func (n *nap) giveUp() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ended {
		return false
	}
	n.ended = true
	n.spot.leave()
	return true
}

// Pause waits for d or, on a [Spot] with Ticks, for the next tick. It is the only timer
// that recipes and naive forms may use.
func Pause(ctx context.Context, d time.Duration) error {
	spot := spotOf(ctx)
	var tick <-chan struct{}
	var timer <-chan time.Time
	if spot != nil && spot.Ticks {
		wake := make(chan struct{})
		spot.park(wake)
		tick = wake
	} else {
		t := time.NewTimer(d)
		defer t.Stop()
		timer = t.C
	}
	select {
	case <-tick:
	case <-timer:
	case <-ctx.Done():
		spot.leave()
		return context.Cause(ctx)
	}
	return nil
}

// Bound returns a context that ends with cause ErrSessionLost when the session ends. The
// holder of an ephemeral node works under it.
func Bound(ctx context.Context, c Conn) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-c.Done():
			cancel(ErrSessionLost)
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil) }
}

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
