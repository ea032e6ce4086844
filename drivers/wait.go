package drivers

import (
	"context"
	"sync"
	"time"
)

// A Wait waits for one watch: give Fire to the call that arms it, then Await.
// The zero Wait is ready; it serves once.
type Wait struct {
	mu    sync.Mutex
	fired bool
	event Event
	wake  chan struct{} // made by Await, closed by Fire
	spot  *Spot         // where Await is parked
}

// Fire is the [Watch] of this wait. Only the first event counts.
func (w *Wait) Fire(e Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fired {
		return
	}
	w.fired, w.event = true, e
	if w.wake != nil {
		// Off the spot before the waiter can run: who looks at the spot
		// must never find a client parked whose watch has fired.
		w.spot.leave()
		close(w.wake)
	}
}

// Fired tells whether the watch has fired.
func (w *Wait) Fired() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.fired
}

// Await blocks until the watch has fired or the context ends. A watch that
// fired because the session was lost is ErrSessionLost.
func (w *Wait) Await(ctx context.Context) (Event, error) {
	if wake := w.park(spotOf(ctx)); wake != nil {
		select {
		case <-wake:
		case <-ctx.Done():
			w.abandon()
			return Event{}, context.Cause(ctx)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.event.Type == Lost {
		return w.event, ErrSessionLost
	}
	return w.event, nil
}

// park returns nil if there is nothing to wait for.
func (w *Wait) park(spot *Spot) chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fired {
		return nil
	}
	w.wake, w.spot = make(chan struct{}), spot
	spot.park(nil)
	return w.wake
}

func (w *Wait) abandon() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.fired {
		w.fired = true
		w.spot.leave()
	}
}

// Pause waits for d, or, on a [Spot] whose ticks are injected, for the next
// tick. It is the only timer that a recipe or a naive form may use.
func Pause(ctx context.Context, d time.Duration) error {
	spot := spotOf(ctx)
	var tick <-chan struct{}
	var timer <-chan time.Time
	if spot.ticked() {
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

// Bound returns a context that ends with cause ErrSessionLost when the session
// ends: what a holder of something ephemeral works under.
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
