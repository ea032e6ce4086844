package lean

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/wire"
	"github.com/stampede-bench/stampede/internal/bubble"
)

// The heartbeats keep an idle session alive.
func TestHeartbeats(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		p := newPeer(t)
		st := new(states)
		pings := 0
		c, e := p.open(Config{}, drivers.Options{OnState: st.on, Probe: probeFunc(func(m drivers.Message) {
			if m.Kind == drivers.Reply && m.Op == drivers.OpPing {
				pings++
			}
		})})
		asked := later(func() error {
			time.Sleep(time.Minute)
			return c.Delete(t.Context(), "/a", 0)
		})
		e.answer(wire.OpDelete, 1, wire.OK, nil)
		if err := <-asked; err != nil {
			t.Error(err)
		}
		// Due after a third of 6 s, and at most two beats late.
		if pings < 23 || pings > 30 {
			t.Errorf("%d heartbeats in a minute, want one in 2 s to 2.6 s", pings)
		}
		c.closeOn(e)
		st.are(t, drivers.SessionClosed)
	})
}

// probeFunc is a function as a probe.
type probeFunc func(drivers.Message)

func (p probeFunc) Message(m drivers.Message) { p(m) }

// The session leaves a silent server in time to move to another one.
func TestSilentServer(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		p := newPeer(t)
		st := new(states)
		c, e := p.open(Config{Servers: []string{"a:1", "b:1"}}, drivers.Options{OnState: st.on})
		unanswered := later(func() error { return c.Delete(t.Context(), "/a", 0) })
		for {
			if _, err := e.in.Next(); err != nil {
				break
			}
		}
		fails(t, "what was asked", <-unanswered, drivers.ErrConnectionLoss)
		e = p.accept()
		if p.dialled()[0] == p.dialled()[1] {
			t.Errorf("dialled %v, want another server", p.dialled())
		}
		synctest.Wait()
		st.are(t, drivers.Disconnected, drivers.Connected)
		c.closeOn(e)
	})
}

// A server is not silent while LoseReply holds up one of its replies.
func TestHeldReplyIsNotSilence(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		p := newPeer(t)
		st := new(states)
		c, e := p.open(Config{}, drivers.Options{OnState: st.on, LoseReply: func(m drivers.Message) bool {
			if m.Op == drivers.OpDelete {
				time.Sleep(time.Minute)
			}
			return false
		}})
		asked := later(func() error { return c.Delete(t.Context(), "/a", 0) })
		e.answer(wire.OpDelete, 1, wire.OK, nil)
		go func() { // reads the heartbeats
			for {
				if _, err := e.in.Next(); err != nil {
					return
				}
			}
		}()
		if err := <-asked; err != nil {
			t.Error(err)
		}
		st.are(t)
		e.Close()
		c.closeOn(p.accept())
	})
}

// A bubble ends when all its goroutines have ended: each of these tests proves that Close
// leaves none behind.

func TestCloseOfASilentServer(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		p := newPeer(t)
		c, e := p.open(Config{}, drivers.Options{})
		w := newRecorder()
		unanswered := later(func() error { _, _, err := c.Exists(t.Context(), "/b", w.watch); return err })
		e.next(wire.OpExists)
		ended := later(c.Close)
		e.next(wire.OpCloseSession)
		fails(t, "a call in flight", <-unanswered, drivers.ErrSessionLost)
		<-ended
		w.told(t)
	})
}

func TestCloseOfADeadServer(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		p := newPeer(t)
		c, e := p.open(Config{}, drivers.Options{})
		p.refuses.Store(true)
		e.Close()
		synctest.Wait()
		c.Close()
		if len(p.dialled()) < 3 {
			t.Errorf("dialled %d times, want several attempts to close", len(p.dialled()))
		}
	})
}

// A session that is closed while it is disconnected reconnects once more, only to be closed.
func TestCloseWhileDisconnected(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		p := newPeer(t)
		st := new(states)
		c, e := p.open(Config{}, drivers.Options{OnState: st.on})
		w := newRecorder()
		arm(t, c, e, w.watch)
		e.Close()
		synctest.Wait()
		ended := later(c.Close)
		synctest.Wait()
		p.accept().closed()
		<-ended
		if n := len(w.events); n != 3 {
			t.Errorf("%d watches were told, want 3", n)
		}
		st.are(t, drivers.Disconnected, drivers.SessionClosed)
	})
}

// A server that accepts connections and does not answer does not block Dial.
func TestDialOfASilentServer(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		p := newPeer(t)
		ctx, cancel := context.WithCancelCause(t.Context())
		dialled := later(func() error { _, err := p.service(Config{}).Dial(ctx, drivers.Options{}); return err })
		(<-p.ends).payload()
		cancel(errGivenUp)
		if err := <-dialled; !errors.Is(err, errGivenUp) {
			t.Errorf("got %v, want %v", err, errGivenUp)
		}
	})
}

// A session whose large reply waits to be decoded behind those of others sends its heartbeats,
// keeps its connection, and gets its reply.
func TestHeartbeatsDoNotQueueBehindDecoding(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		p := newPeer(t)
		st := new(states)
		c, e := p.open(Config{}, drivers.Options{OnState: st.on})
		for range cap(c.decoding) { // other sessions decode
			c.decoding <- struct{}{}
		}
		var names []drivers.Child
		listed := later(func() (err error) { names, err = c.Children(t.Context(), "/line", nil); return err })
		e.answer(wire.OpGetChildren, 7, wire.OK, wire.Children{Names: thousands()})
		beats := make(chan struct{}, 100)
		go func() {
			for {
				head, err := io.ReadAll(io.LimitReader(e, 12)) // length, xid, opcode
				if len(head) < 12 || err != nil {
					return
				}
				beats <- struct{}{}
			}
		}()
		time.Sleep(time.Minute)
		if n := len(beats); n < 10 {
			t.Errorf("%d heartbeats in a minute", n)
		}
		for range cap(c.decoding) {
			<-c.decoding
		}
		if err := <-listed; err != nil || len(names) != 9000 || names[8999].Seq != 8999 {
			t.Errorf("%d names, %v", len(names), err)
		}
		st.are(t)
		e.Close()
		c.Close()
	})
}

// Thousands of names are parts of one string.
func TestListingOfThousandsIsOneString(t *testing.T) {
	packet := wire.Children{Names: thousands()}.Append(nil)
	var all []drivers.Child
	allocations := testing.AllocsPerRun(5, func() {
		d := wire.NewDecoder(packet)
		all = children(&d)
	})
	if allocations > 2 || len(all) != 9000 || all[4711].Name != thousands()[4711] {
		t.Errorf("%v allocations for %d names, want one for the names and one for the list", allocations, len(all))
	}
	d := wire.NewDecoder(packet[:len(packet)-1])
	if children(&d); d.Err() == nil {
		t.Error("a listing that is cut off is taken")
	}
}

func thousands() []string {
	names := make([]string, 9000)
	for i := range names {
		names[i] = fmt.Sprintf("KRSXG5CTMVRXEZLU-lock-%010d", i)
	}
	return names
}
