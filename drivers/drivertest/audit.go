package drivertest

import (
	"context"
	"sync"

	"github.com/stampede-bench/stampede/drivers"
)

// An audit follows one watch from the call that arms it to the end of the case, whatever
// the case itself checks.
type audit struct {
	what string

	mu    sync.Mutex
	armed bool // the call returned nil
	calls int
	first chan struct{} // closed by the first call
}

// audited returns the watch to pass on, and the function to call when the arming call has
// returned.
func (x *trial) audited(what string, w drivers.Watch) (drivers.Watch, func(error)) {
	if w == nil {
		return nil, func(error) {}
	}
	a := &audit{what: what, first: make(chan struct{})}
	x.mu.Lock()
	x.audits = append(x.audits, a)
	x.mu.Unlock()
	fire := func(e drivers.Event) {
		a.fired()
		w(e)
	}
	return fire, a.returned
}

func (a *audit) fired() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.calls++
	if a.calls == 1 {
		close(a.first)
	}
}

func (a *audit) returned(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.armed = err == nil
}

// audit checks, when all sessions have ended, that every armed watch was called exactly
// once, and that no watch of a failed call was called.
func (x *trial) audit(ctx context.Context) {
	for _, a := range x.audits {
		if a.isArmed() {
			x.await(ctx, a.first, "the watch of %s: it was armed and never called, not even when the session ended", a.what)
		}
	}
	for _, a := range x.audits {
		a.mu.Lock()
		switch {
		case a.armed && a.calls != 1:
			x.Errorf("the watch of %s was called %d times, want once", a.what, a.calls)
		case !a.armed && a.calls != 0:
			x.Errorf("the watch of %s was called %d times, though the call that was to arm it failed", a.what, a.calls)
		}
		a.mu.Unlock()
	}
}

func (a *audit) isArmed() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.armed
}
