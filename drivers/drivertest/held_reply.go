package drivertest

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/stampede-bench/stampede/drivers"
)

// A heldReply holds the first reply to an operation before the client sees it. The call stays
// unanswered until the case lets the reply pass or loses it. Its ask is a
// [drivers.Options.LoseReply].
type heldReply struct {
	op      drivers.Op
	skip    atomic.Int32  // replies to let pass first
	stopped chan struct{} // closed when the reply has arrived
	verdict chan bool     // whether the reply is lost
}

// holdReply holds the first reply to an operation of one session.
func (x *trial) holdReply(op drivers.Op) *heldReply {
	g := &heldReply{op: op, stopped: make(chan struct{}), verdict: make(chan bool, 1)}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.heldReplies = append(x.heldReplies, g)
	return g
}

// holdReplyAtReconnect holds the reply that opens the session's second connection, so that the
// session stays disconnected.
func (x *trial) holdReplyAtReconnect() *heldReply {
	g := x.holdReply(drivers.OpOpen)
	g.skip.Store(1)
	return g
}

// losing returns a heldReply that loses the first reply to an operation.
func (x *trial) losing(op drivers.Op) *heldReply {
	g := x.holdReply(op)
	g.lose()
	return g
}

func (g *heldReply) ask(m drivers.Message) bool {
	if m.Op != g.op || g.skip.Add(-1) != -1 {
		return false
	}
	close(g.stopped)
	return <-g.verdict
}

// reached waits until the reply has arrived.
func (g *heldReply) reached(ctx context.Context) error {
	select {
	case <-g.stopped:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("timed out waiting for the reply to %v", g.op)
	}
}

func (g *heldReply) pass() { g.decide(false) }
func (g *heldReply) lose() { g.decide(true) }

// decide does nothing if the case has decided already.
func (g *heldReply) decide(lost bool) {
	select {
	case g.verdict <- lost:
	default:
	}
}

// either returns a LoseReply that asks both heldReplies.
func either(a, b *heldReply) func(drivers.Message) bool {
	return func(m drivers.Message) bool { return a.ask(m) || b.ask(m) }
}
