package lean

import (
	"context"
	"runtime"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// Begin makes a call. The request is sent with the next ones, or when a caller awaits a call
// that is unanswered; see [drivers.Pipeliner].
func (c *Conn) Begin(ctx context.Context, r drivers.Call) drivers.Pending {
	k, err := c.begin(ctx, &request{op: r.Op, code: codeOf(r.Op), path: r.Path, data: r.Data, version: r.Version, mode: r.Mode}, (*link).gather)
	if err != nil {
		return drivers.Failed(err)
	}
	k.conn = c
	return k
}

func codeOf(op drivers.Op) int32 {
	switch op {
	case drivers.OpCreate:
		return wire.OpCreate
	case drivers.OpDelete:
		return wire.OpDelete
	case drivers.OpSet:
		return wire.OpSetData
	case drivers.OpChildren:
		return wire.OpGetChildren
	}
	return wire.OpGetData
}

// Await waits for the answer to the call; see [drivers.Pending].
func (k *call) Await(ctx context.Context) (a drivers.Answer) {
	c, op := k.conn, k.op
	if !k.ready() {
		runtime.Gosched() // so that the reader first completes all calls whose replies have arrived
		if !k.ready() {
			c.flush()
		}
	}
	if a.Err = c.await(ctx, k); a.Err == nil {
		a.Stat, a.Children = k.stat, len(k.children)
		c.free(k)
	} else if op == drivers.OpCreate {
		a.Err = c.ensemble.User.Untaken(a.Err)
	}
	return a
}

// ready reports whether the call has been answered.
func (k *call) ready() bool { return len(k.done) > 0 }

// flush sends the calls that were begun.
func (c *Conn) flush() {
	if l := c.link.Load(); l != nil {
		l.flush()
	}
}
