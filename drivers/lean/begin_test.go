package lean

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/wire"
	"github.com/stampede-bench/stampede/internal/bubble"
)

// writes counts the writes on a connection.
type writes struct {
	net.Conn
	n *atomic.Int64
}

func (w writes) Write(p []byte) (int, error) {
	w.n.Add(1)
	return w.Conn.Write(p)
}

// Calls that one goroutine begins are sent in one write when it awaits an answer, and each
// call gets its own answer.
func TestBegunCallsAreSentTogether(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		const n = 16
		var written atomic.Int64
		p := newPeer(t)
		c, e := p.open(Config{}, drivers.Options{Through: func(nc net.Conn) net.Conn { return writes{nc, &written} }})
		before := written.Load()
		var begun []drivers.Pending
		for i := range n {
			begun = append(begun, c.Begin(t.Context(), drivers.Call{Op: drivers.OpSet, Path: fmt.Sprint("/", i), Data: []byte("data")}))
		}
		if sent := written.Load() - before; sent != 0 {
			t.Errorf("sent %d times before anything is awaited", sent)
		}
		answers := later(func() error {
			for i, b := range begun {
				if a := b.Await(t.Context()); a.Err != nil || a.Stat.Version != int32(i) {
					return fmt.Errorf("call %d: %+v", i, a)
				}
			}
			return nil
		})
		var asked []int32
		for range n {
			xid, _ := e.next(wire.OpSetData)
			asked = append(asked, xid)
		}
		for i, xid := range asked {
			e.reply(xid, 1, wire.OK, wire.Stat{Version: int32(i)})
		}
		if err := <-answers; err != nil {
			t.Error(err)
		}
		if sent := written.Load() - before; sent != 1 {
			t.Errorf("%d calls were sent in %d pieces, want one", n, sent)
		}
		c.closeOn(e)
	})
}

// Calls made with Begin fail as other calls do: with their connection, their context or their
// session, or with the server's error.
func TestBegunCallsFail(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		p := newPeer(t)
		c, e := p.open(Config{}, drivers.Options{})
		get := drivers.Call{Op: drivers.OpGet, Path: "/a"}
		missing, cut := c.Begin(t.Context(), get), c.Begin(t.Context(), get)
		answer := later(func() error { return missing.Await(t.Context()).Err })
		xid, _ := e.next(wire.OpGetData)
		e.next(wire.OpGetData)
		e.reply(xid, 1, wire.ErrNoNode, nil)
		fails(t, "a get of no node", <-answer, drivers.ErrNoNode)
		e.Close()
		fails(t, "a call on a connection that broke", cut.Await(t.Context()).Err, drivers.ErrConnectionLoss)

		e = p.accept()
		ctx, giveUp := context.WithCancelCause(t.Context())
		given := c.Begin(ctx, get)
		answer = later(func() error { return given.Await(ctx).Err })
		xid, _ = e.next(wire.OpGetData)
		giveUp(errGivenUp)
		fails(t, "a call that was given up", <-answer, errGivenUp)
		fails(t, "a call begun when it was given up", c.Begin(ctx, get).Await(ctx).Err, errGivenUp)
		e.reply(xid, 1, wire.OK, wire.DataStat{})
		if err := c.Begin(t.Context(), drivers.Call{Op: drivers.OpGet, Path: "a"}).Await(t.Context()).Err; !errors.Is(err, errPath) {
			t.Errorf("a wrong path: %v", err)
		}
		c.closeOn(e)
		fails(t, "a call after the session", c.Begin(t.Context(), get).Await(t.Context()).Err, drivers.ErrSessionLost)
	})
}
