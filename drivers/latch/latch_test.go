package latch

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/internal/bubble"
)

// Calls wait until there is a connection and no write is held, and then all of them pass.
func TestLatch(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var l Latch
		var passed atomic.Int32
		waiters := func() {
			for range 3 {
				go func() {
					if err := l.Wait(t.Context(), nil); err != nil {
						t.Error(err)
					}
					passed.Add(1)
				}()
				synctest.Wait()
			}
		}
		passes := func(want int32, when string) {
			t.Helper()
			synctest.Wait()
			if got := passed.Load(); got != want {
				t.Errorf("%s: %d calls have passed, want %d", when, got, want)
			}
		}
		waiters()
		passes(0, "before the first connection")
		l.Hold()
		l.Release()
		passes(0, "held and released before the first connection")
		l.SetConnected(true)
		passes(3, "connected")
		waiters()
		passes(6, "still connected")
		l.Hold()
		l.Hold()
		waiters()
		l.Release()
		passes(6, "one of two holds released")
		l.SetConnected(false)
		l.Release()
		passes(6, "disconnected")
		l.SetConnected(true)
		passes(9, "connected and released")
		if !l.Connected() {
			t.Error("not connected, want connected")
		}
	})
}

// A call that need not or cannot wait returns the reason.
func TestLatchErrors(t *testing.T) {
	canceled := errors.New("the caller has no more time")
	for _, open := range []bool{false, true} {
		var l Latch
		l.SetConnected(open)
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(canceled)
		if err := l.Wait(ctx, nil); err != canceled {
			t.Errorf("open %v, context canceled: got %v, want its cause", open, err)
		}
		done := make(chan struct{})
		close(done)
		if err := l.Wait(t.Context(), done); err != drivers.ErrSessionLost {
			t.Errorf("open %v, session over: got %v, want %v", open, err, drivers.ErrSessionLost)
		}
	}
}

// A call that waits learns of the end of its context and of its session.
func TestLatchEndsWaits(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var l Latch
		canceled := errors.New("the caller has no more time")
		ctx, cancel := context.WithCancelCause(t.Context())
		done := make(chan struct{})
		errs := make(chan error)
		go func() { errs <- l.Wait(ctx, nil) }()
		synctest.Wait()
		cancel(canceled)
		if err := <-errs; err != canceled {
			t.Errorf("context canceled: got %v, want its cause", err)
		}
		go func() { errs <- l.Wait(t.Context(), done) }()
		synctest.Wait()
		close(done)
		if err := <-errs; err != drivers.ErrSessionLost {
			t.Errorf("session over: got %v, want %v", err, drivers.ErrSessionLost)
		}
	})
}
