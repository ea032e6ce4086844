package etcd

import (
	"context"
	"sync"

	"github.com/stampede-bench/stampede/drivers"
)

// A gate holds calls back while they must not be sent: while the session is disconnected, and
// while a write whose caller has returned is unanswered, since that write must not be applied
// after a later call.
type gate struct {
	mu    sync.Mutex
	shut  bool
	stale int           // unanswered writes whose callers have returned
	wake  chan struct{} // closed when the gate opens; nil if no call waits
}

// pass waits until the gate is open, the context ends or the session does.
func (g *gate) pass(ctx context.Context, done <-chan struct{}) error {
	for {
		select {
		case <-done:
			return drivers.ErrSessionLost
		default:
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		wake := g.await()
		if wake == nil {
			return nil
		}
		select {
		case <-wake:
		case <-ctx.Done():
		case <-done:
		}
	}
}

// await returns nil if the gate is open, or else a channel that closes when it opens.
func (g *gate) await() chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.shut && g.stale == 0 {
		return nil
	}
	if g.wake == nil {
		g.wake = make(chan struct{})
	}
	return g.wake
}

// set shuts the gate, or lets it open.
func (g *gate) set(shut bool) { g.change(func() { g.shut = shut }) }

// hold keeps the gate from opening until release.
func (g *gate) hold()    { g.change(func() { g.stale++ }) }
func (g *gate) release() { g.change(func() { g.stale-- }) }

func (g *gate) change(how func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	how()
	if !g.shut && g.stale == 0 && g.wake != nil {
		close(g.wake)
		g.wake = nil
	}
}
