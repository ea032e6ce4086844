package lean

import (
	"bytes"
	"encoding/binary"
	"testing"
	"testing/synctest"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/wire"
	"github.com/stampede-bench/stampede/drivers/wire/captured"
	"github.com/stampede-bench/stampede/internal/bubble"
)

// twoGets starts two calls and returns with both in flight.
func twoGets(t *testing.T, c *Conn, e *end) (failed [2]<-chan error, xids [2]int32) {
	t.Helper()
	for i, path := range []string{"/a", "/b"} {
		failed[i] = later(func() error { _, _, err := c.Get(t.Context(), path, nil); return err })
		xids[i], _ = e.next(wire.OpGetData)
	}
	return failed, xids
}

// The client closes the connection to a server that violates the protocol, and the calls in
// flight fail.
func TestHostileServers(t *testing.T) {
	for name, say := range map[string]func(e *end, xids [2]int32){
		"replies out of order": func(e *end, xids [2]int32) { e.reply(xids[1], 1, wire.OK, wire.DataStat{}) },
		"an answer to nothing": func(e *end, xids [2]int32) { e.reply(99, 1, wire.OK, nil) },
		"a negative length":    func(e *end, _ [2]int32) { e.Write([]byte{0xff, 0xff, 0xff, 0xff}) },
		"an oversize length": func(e *end, _ [2]int32) {
			e.Write(binary.BigEndian.AppendUint32(nil, maxReply+1))
		},
		"less than a header":       func(e *end, _ [2]int32) { e.send(append(wire.Begin(nil), 1, 2, 3)) },
		"a record that breaks off": func(e *end, xids [2]int32) { e.reply(xids[0], 1, wire.OK, wire.Path{Path: "x"}) },
		"a broken notification": func(e *end, _ [2]int32) {
			e.reply(wire.XidNotification, -1, wire.OK, wire.Int{Value: wire.EventDeleted})
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				p := newPeer(t)
				c, e := p.open(Config{}, drivers.Options{})
				failed, xids := twoGets(t, c, e)
				say(e, xids)
				for _, f := range failed {
					fails(t, "a get", <-f, drivers.ErrConnectionLoss)
				}
				if _, err := e.in.Next(); err == nil {
					t.Error("the client did not hang up")
				}
				c.closeOn(p.accept())
			})
		})
	}
}

// The claimed length of a listing allocates no memory until its bytes arrive.
func TestListingsAreNotTrusted(t *testing.T) {
	d := wire.NewDecoder(binary.BigEndian.AppendUint32(nil, 1<<30))
	if got := children(&d); len(got) != 0 || d.Err() == nil {
		t.Errorf("%d children, %v; want none and an error", len(got), d.Err())
	}
}

// FuzzReceive lets a server send any bytes while calls of every kind are unanswered: each call
// returns, and the session ends when it is closed.
func FuzzReceive(f *testing.F) {
	framed := func(xid int32, err wire.Err, body appender) []byte {
		b := wire.ReplyHeader{Xid: xid, Zxid: 3, Err: err}.Append(wire.Begin(nil))
		if body != nil {
			b = body.Append(b)
		}
		wire.End(b, 0)
		return b
	}
	f.Add(framed(1, wire.OK, wire.DataStat{Data: []byte("data")}))
	f.Add(framed(1, wire.ErrNoNode, nil))
	f.Add(bytes.Join([][]byte{framed(1, wire.OK, wire.DataStat{}), framed(2, wire.OK, wire.Children{Names: []string{"a"}}),
		framed(3, wire.OK, wire.Path{Path: "/a"}), framed(4, wire.OK, wire.Int{})}, nil))
	f.Add(framed(wire.XidNotification, wire.OK, wire.WatcherEvent{Type: wire.EventDeleted, State: 3, Path: "/a"}))
	f.Add(framed(wire.XidPing, wire.OK, nil))
	packets, err := captured.Packets()
	if err != nil {
		f.Fatal(err)
	}
	for _, p := range packets {
		if !p.Request && p.Op != wire.OpCreateSession {
			f.Add(p.Framed())
		}
	}
	f.Fuzz(func(t *testing.T, said []byte) {
		bubble.Test(t, func(t *testing.T) {
			p := newPeer(t)
			c, e := p.open(Config{}, drivers.Options{Probe: deaf{}})
			ignore := func(drivers.Event) {}
			var failed []<-chan error
			for _, call := range []func() error{
				func() error { _, _, err := c.Get(t.Context(), "/a", ignore); return err },
				func() error { _, err := c.Children(t.Context(), "/a", ignore); return err },
				func() error { _, err := c.Create(t.Context(), "/a", nil, 0); return err },
				func() error { _, err := c.WatchTree(t.Context(), "/a", ignore); return err },
			} {
				failed = append(failed, later(call))
				synctest.Wait()
				e.payload()
			}
			p.refuses.Store(true)
			e.Write(said)
			e.Close()
			for _, f := range failed {
				<-f
			}
			c.Close()
		})
	})
}

// deaf is a probe that ignores messages.
type deaf struct{}

func (deaf) Message(m drivers.Message) { _ = string(m.Path) }
