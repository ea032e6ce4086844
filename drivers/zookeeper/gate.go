package zookeeper

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/stampede-bench/stampede/drivers"
)

// gate holds calls back while they must not be sent: while there is no
// connection, so that one given up before the reconnect was certainly not made;
// and while a write that was given up has not been answered: it may still be on
// its way to being sent, and must not be applied after a later call. The zero
// gate is shut.
type gate struct {
	mu    sync.Mutex
	shut  bool          // no connection
	stale int           // writes given up and not answered
	open  atomic.Bool   // neither of them; all that a passing call looks at
	wake  chan struct{} // closed when the gate opens; nil if nobody waits
}

// pass waits until the gate is open, the context ends or the session does.
func (g *gate) pass(ctx context.Context, done <-chan struct{}) error {
	for !g.open.Load() {
		wake := g.await()
		if wake == nil {
			continue
		}
		select {
		case <-wake:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-done:
			return drivers.ErrSessionLost
		}
	}
	return nil
}

func (g *gate) await() chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open.Load() {
		return nil
	}
	if g.wake == nil {
		g.wake = make(chan struct{})
	}
	return g.wake
}

func (g *gate) set(shut bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut = shut
	g.settle()
}

// isShut tells whether the connection broke and there is no other yet.
func (g *gate) isShut() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.shut
}

// hold keeps the gate from opening until release.
func (g *gate) hold() { g.count(1) }

func (g *gate) release() { g.count(-1) }

func (g *gate) count(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.stale += n
	g.settle()
}

func (g *gate) settle() {
	open := !g.shut && g.stale == 0
	g.open.Store(open)
	if open && g.wake != nil {
		close(g.wake)
		g.wake = nil
	}
}
