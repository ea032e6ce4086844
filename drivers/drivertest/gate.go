package drivertest

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/stampede-bench/stampede/drivers"
)

// A gate stops the first reply to an operation before the client sees it. The call stays
// unanswered until the gate lets the reply pass or loses it. Its ask is a
// [drivers.Options.LoseReply].
type gate struct {
	op      drivers.Op
	skip    atomic.Int32  // replies to let pass first
	stopped chan struct{} // closed when the reply has arrived
	verdict chan bool     // whether the reply is lost
}

// gate returns a gate that stops the first reply to an operation of one session.
func (x *trial) gate(op drivers.Op) *gate {
	g := &gate{op: op, stopped: make(chan struct{}), verdict: make(chan bool, 1)}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.gates = append(x.gates, g)
	return g
}

// gateAtReconnect returns a gate that stops the reply that opens the session's second
// connection, so that the session stays disconnected.
func (x *trial) gateAtReconnect() *gate {
	g := x.gate(drivers.OpOpen)
	g.skip.Store(1)
	return g
}

// losing returns a gate that loses the first reply to an operation.
func (x *trial) losing(op drivers.Op) *gate {
	g := x.gate(op)
	g.lose()
	return g
}

func (g *gate) ask(m drivers.Message) bool {
	if m.Op != g.op || g.skip.Add(-1) != -1 {
		return false
	}
	close(g.stopped)
	return <-g.verdict
}

// reached waits until the reply has arrived.
func (g *gate) reached(ctx context.Context) error {
	select {
	case <-g.stopped:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waited in vain for the reply to %v", g.op)
	}
}

func (g *gate) pass() { g.decide(false) }
func (g *gate) lose() { g.decide(true) }

// decide does nothing if the gate has decided already.
func (g *gate) decide(lost bool) {
	select {
	case g.verdict <- lost:
	default:
	}
}

// either returns a LoseReply that asks both gates.
func either(a, b *gate) func(drivers.Message) bool {
	return func(m drivers.Message) bool { return a.ask(m) || b.ask(m) }
}
