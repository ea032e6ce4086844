package lean

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/wire"
	"github.com/stampede-bench/stampede/internal/bubble"
)

var errGivenUp = errors.New("given up")

// Many calls are in flight at the same time, and each gets its own answer.
func TestCallsArePipelined(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		const n = 100
		p := newPeer(t)
		c, e := p.open(Config{}, drivers.Options{})
		var answers []<-chan error
		for i := range n {
			answers = append(answers, later(func() error {
				data, _, err := c.Get(t.Context(), fmt.Sprint("/", i), nil)
				if string(data) != fmt.Sprint("/", i) {
					err = fmt.Errorf("got %q for /%d (%v)", data, i, err)
				}
				return err
			}))
		}
		paths := make(map[int32]string)
		var order []int32
		for range n {
			xid, d := e.next(wire.OpGetData)
			paths[xid] = d.String()
			order = append(order, xid)
		}
		for _, xid := range order {
			e.reply(xid, 1, wire.OK, wire.DataStat{Data: []byte(paths[xid])})
		}
		for _, a := range answers {
			if err := <-a; err != nil {
				t.Error(err)
			}
		}
		c.closeOn(e)
	})
}

// An abandoned call returns while the server is silent, its watch is never called, and its
// request is answered in its order.
func TestGivenUpCalls(t *testing.T) {
	connected(t, func(t *testing.T, _ *peer, c *Conn, e *end) {
		ctx, giveUp := context.WithCancelCause(t.Context())
		w := newRecorder()
		read := later(func() error { _, _, err := c.Get(ctx, "/a", w.watch); return err })
		first, _ := e.next(wire.OpGetData)
		write := later(func() error { return c.Delete(ctx, "/a", 0) })
		second, _ := e.next(wire.OpDelete)
		kept := later(func() error { _, err := c.WatchTree(ctx, "/a", w.watch); return err })
		third, _ := e.next(wire.OpAddWatch)
		giveUp(errGivenUp)
		for _, given := range []<-chan error{read, write, kept} {
			fails(t, "a call that was given up", <-given, errGivenUp)
		}
		next := later(func() error { return c.Delete(t.Context(), "/b", 0) })
		fourth, _ := e.next(wire.OpDelete)
		e.reply(first, 1, wire.OK, wire.DataStat{})
		e.reply(second, 2, wire.OK, nil)
		e.reply(third, 2, wire.OK, wire.Int{})
		fifth, _ := e.next(wire.OpRemoveWatches) // its caller has abandoned the watch
		e.notify(wire.EventDeleted, "/a")
		e.reply(fourth, 3, wire.OK, nil)
		e.reply(fifth, 3, wire.OK, nil)
		if err := <-next; err != nil {
			t.Error(err)
		}
		w.told(t)
	})
}

// A request that does not fit into the connection's buffers does not block its caller.
func TestGivenUpWhileTheServerDoesNotRead(t *testing.T) {
	connected(t, func(t *testing.T, _ *peer, c *Conn, e *end) {
		ctx, giveUp := context.WithCancelCause(t.Context())
		data := make([]byte, fits+1)
		write := later(func() error { _, err := c.Set(ctx, "/a", data, 0); return err })
		synctest.Wait()
		giveUp(errGivenUp)
		fails(t, "a set", <-write, errGivenUp)
		e.answer(wire.OpSetData, 1, wire.OK, wire.Stat{})
	})
}

// While the session is disconnected a call waits, and an abandoned one is never sent.
func TestCallsWaitForTheReconnect(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		p := newPeer(t)
		c, e := p.open(Config{}, drivers.Options{})
		p.refuses.Store(true)
		e.Close()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		fails(t, "delete", c.Delete(ctx, "/a", 0), context.DeadlineExceeded)
		waiting := later(func() error { return c.Delete(t.Context(), "/b", 0) })
		synctest.Wait()
		p.refuses.Store(false)
		e = p.accept()
		xid, d := e.next(wire.OpDelete)
		if path := d.String(); path != "/b" {
			t.Errorf("asked to delete %s first, want /b", path)
		}
		e.reply(xid, 1, wire.OK, nil)
		if err := <-waiting; err != nil {
			t.Error(err)
		}
		c.closeOn(e)
	})
}

func TestErrorsSayWhat(t *testing.T) {
	connected(t, func(t *testing.T, _ *peer, c *Conn, e *end) {
		for _, tc := range []struct {
			answer   wire.Err
			sentinel error
			text     string
		}{
			{wire.ErrNoNode, drivers.ErrNoNode, "delete /a: no such node"},
			{wire.ErrNoAuth, drivers.ErrRefused, "delete /a: not permitted"},
			{wire.ErrUnimplemented, drivers.ErrUnsupported, "delete /a: not supported here"},
			{wire.ErrBadArguments, wire.ErrBadArguments, "delete /a: server error -8"},
		} {
			failed := later(func() error { return c.Delete(t.Context(), "/a", 0) })
			e.answer(wire.OpDelete, 1, tc.answer, nil)
			err := <-failed
			var code wire.Err
			if !errors.Is(err, tc.sentinel) || err.Error() != tc.text || !errors.As(err, &code) || code != tc.answer {
				t.Errorf("got %v, want %q with %d in it", err, tc.text, tc.answer)
			}
		}
		for _, path := range []string{"", "a", "/a/"} {
			if err := c.Sync(t.Context(), path); err == nil || !strings.HasSuffix(err.Error(), errPath.Error()) {
				t.Errorf("sync %q: %v, want what a path is like", path, err)
			}
		}
	})
}

// With SyncReads a sync precedes each read. The read is sent without waiting for the sync, but
// fails if the sync fails.
func TestSyncReads(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		p := newPeer(t)
		c, e := p.open(Config{SyncReads: true}, drivers.Options{})
		for _, answer := range []wire.Err{wire.OK, wire.ErrUnimplemented} {
			read := later(func() error { _, _, err := c.Get(t.Context(), "/a", nil); return err })
			sync, d := e.next(wire.OpSync)
			if path := d.String(); path != "/a" {
				t.Errorf("sync of %s, want /a", path)
			}
			get, _ := e.next(wire.OpGetData)
			e.reply(sync, 1, answer, nil)
			e.reply(get, 1, wire.OK, wire.DataStat{})
			if err := <-read; !errors.Is(err, answer.Sentinel()) {
				t.Errorf("sync answered with %d, the read with %v", answer, err)
			}
		}
		c.closeOn(e)
	})
}

func TestQueueKeepsTheOrder(t *testing.T) {
	var q queue
	var in, out int32
	for round := range 20 {
		for range round {
			in++
			q.push(&call{xid: in})
		}
		for range round / 2 {
			out++
			if k := q.pop(); k.xid != out {
				t.Fatalf("popped %d, want %d", k.xid, out)
			}
		}
		if q.len() != int(in-out) {
			t.Fatalf("%d are left, want %d", q.len(), in-out)
		}
	}
	for out < in {
		out++
		if k := q.pop(); k.xid != out {
			t.Fatalf("popped %d, want %d", k.xid, out)
		}
	}
	if q.pop() != nil || q.first() != nil {
		t.Error("an empty queue has a call")
	}
}

// A call allocates what it returns, and nothing else.
func TestCallsAllocateLittle(t *testing.T) {
	p := newPeer(t)
	c, e := p.open(Config{}, drivers.Options{Probe: deaf{}})
	go func() {
		reply := append(wire.Begin(nil), make([]byte, wire.ReplyHeaderSize)...)
		reply = wire.DataStat{Data: []byte("data")}.Append(reply)
		wire.End(reply, 0)
		for {
			request, err := e.in.Next()
			if err != nil {
				return
			}
			copy(reply[wire.LengthSize:], request[:4])
			if _, err := e.Write(reply); err != nil {
				return
			}
		}
	}()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	got := testing.AllocsPerRun(1000, func() {
		if _, _, err := c.Get(ctx, "/a", nil); err != nil {
			t.Fatal(err)
		}
	})
	if got > 2 {
		t.Errorf("%v allocations per get, want the data and at most one more", got)
	}
	c.Close()
}
