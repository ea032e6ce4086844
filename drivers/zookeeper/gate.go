package zookeeper

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/stampede-bench/stampede/drivers"
)

// gate holds calls back while they must not be sent: while there is no connection, so that a
// call abandoned before the reconnect was certainly not made; and while an abandoned write is
// unanswered, since it may still be about to be sent, and must not be applied after a later
// call. The zero gate is shut.
type gate struct {
	mu    sync.Mutex
	shut  bool          // no connection
	stale int           // abandoned writes that are unanswered
	open  atomic.Bool   // neither holds; the only field that a passing call reads
	wake  chan struct{} // closed when the gate opens; nil if no call waits
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

// isShut reports whether the connection broke and there is no new one yet.
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
