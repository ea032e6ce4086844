package lean

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/wire"
	"github.com/stampede-bench/stampede/internal/bubble"
)

// arm arms a watch of each kind.
func arm(t *testing.T, c *Conn, e *end, w drivers.Watch) {
	t.Helper()
	present := later(func() error { _, _, err := c.Get(t.Context(), "/data", w); return err })
	e.answer(wire.OpGetData, 5, wire.OK, wire.DataStat{})
	missing := later(func() error { _, _, err := c.Exists(t.Context(), "/missing", w); return err })
	e.answer(wire.OpExists, 6, wire.ErrNoNode, nil)
	listed := later(func() error { _, err := c.Children(t.Context(), "/list", w); return err })
	e.answer(wire.OpGetChildren, 7, wire.OK, wire.Children{})
	if err := errors.Join(<-present, <-missing, <-listed); err != nil {
		t.Fatal(err)
	}
}

// keep arms a persistent watch.
func keep(t *testing.T, e *end, arm func(context.Context, string, drivers.Watch) (func(), error), path string, w drivers.Watch) (stop func()) {
	t.Helper()
	armed := later(func() (err error) { stop, err = arm(t.Context(), path, w); return err })
	e.answer(wire.OpAddWatch, 7, wire.OK, wire.Int{})
	if err := <-armed; err != nil {
		t.Fatal(err)
	}
	return stop
}

// After a reconnect the watches are armed again before any waiting call is sent, from the
// position that the session has seen.
func TestReconnectArmsFirst(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		p := newPeer(t)
		st := new(states)
		c, e := p.open(Config{}, drivers.Options{OnState: st.on})
		w := newRecorder()
		arm(t, c, e, w.watch)
		e.Close()
		synctest.Wait()
		waiting := later(func() error { return c.Delete(t.Context(), "/a", 0) })
		e = p.accept()
		if e.opened.LastZxid != 7 || e.opened.SessionID != 7 {
			t.Errorf("took session %d up at %d, want 7 at 7", e.opened.SessionID, e.opened.LastZxid)
		}
		xid, d := e.next(wire.OpSetWatches)
		var got wire.SetWatchesRequest
		got.Decode(&d)
		want := wire.SetWatchesRequest{RelativeZxid: 7, Data: []string{"/data"}, Exist: []string{"/missing"}, Child: []string{"/list"}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("armed again (-want +got):\n%s", diff)
		}
		e.reply(xid, 8, wire.OK, nil)
		e.notify(wire.EventCreated, "/missing")
		e.answer(wire.OpDelete, 9, wire.OK, nil)
		if err := <-waiting; err != nil {
			t.Error(err)
		}
		w.told(t, drivers.Event{Type: drivers.Created, Path: "/missing"})
		st.are(t, drivers.Disconnected, drivers.Connected)
		c.closeOn(e)
	})
}

// Notifications while persistent watches are not armed may be old: these watches are notified
// that they are armed again instead.
func TestReconnectArmsLastingWatches(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		p := newPeer(t)
		c, e := p.open(Config{}, drivers.Options{})
		node, tree, once := newRecorder(), newRecorder(), newRecorder()
		keep(t, e, c.WatchNode, "/data", node.watch)
		keep(t, e, c.WatchTree, "/tree", tree.watch)
		arm(t, c, e, once.watch)
		e.Close()
		e = p.accept()
		xid, d := e.next(wire.OpSetWatches2)
		var got wire.SetWatches2Request
		got.Decode(&d)
		want := wire.SetWatches2Request{
			SetWatchesRequest: wire.SetWatchesRequest{RelativeZxid: 7, Data: []string{"/data"}, Exist: []string{"/missing"}, Child: []string{"/list"}},
			Persistent:        []string{"/data"}, Recursive: []string{"/tree"},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("armed again (-want +got):\n%s", diff)
		}
		e.notify(wire.EventDataChanged, "/data")
		e.reply(xid, 8, wire.OK, nil)
		e.notify(wire.EventDataChanged, "/data")
		synctest.Wait()
		once.told(t, drivers.Event{Type: drivers.DataChanged, Path: "/data"})
		node.told(t, drivers.Event{Type: drivers.Rearmed, Path: "/data"}, drivers.Event{Type: drivers.DataChanged, Path: "/data"})
		tree.told(t, drivers.Event{Type: drivers.Rearmed, Path: "/tree"})
		c.closeOn(e)
	})
}

// Many watches are armed again in several requests, all before the waiting calls.
func TestReconnectArmsInParts(t *testing.T) {
	var w watches
	w.armed = make(map[string]*watch)
	var all []string
	for i := range 3000 {
		path := "/" + string(slices.Repeat([]byte{'p'}, 100)) + string(rune('A'+i))
		all = append(all, path)
		w.armed[path] = &watch{kind: wire.DataWatch | wire.ExistWatch}
	}
	requests, _ := w.rearm(1)
	var armed []string
	for _, r := range requests {
		if n := len(r.Append(nil)); n > 3*maxRearm {
			t.Errorf("a request of %d bytes", n)
		}
		armed = append(armed, r.Exist...)
	}
	slices.Sort(all)
	slices.Sort(armed)
	if len(requests) != 3 || !slices.Equal(armed, all) {
		t.Errorf("%d watches in %d requests, want %d in 3", len(armed), len(requests), len(all))
	}
}

// A connection that breaks between two requests that arm watches leaves the position at the
// first disconnect: the watches of the second request missed the changes since then.
func TestReconnectDuringRearmKeepsThePosition(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		p := newPeer(t)
		c, e := p.open(Config{}, drivers.Options{})
		w := newRecorder()
		for i := range 4 {
			path := "/" + strings.Repeat(string(rune('a'+i)), 60<<10)
			missing := later(func() error { _, _, err := c.Exists(t.Context(), path, w.watch); return err })
			e.answer(wire.OpExists, 7, wire.ErrNoNode, nil)
			if err := <-missing; err != nil {
				t.Fatal(err)
			}
		}
		e.Close()
		armed := func(zxid int64) {
			xid, d := e.next(wire.OpSetWatches)
			var got wire.SetWatchesRequest
			got.Decode(&d)
			if got.RelativeZxid != 7 {
				t.Errorf("watches were armed from the position %d, want 7", got.RelativeZxid)
			}
			e.reply(xid, zxid, wire.OK, nil)
		}
		e = p.accept()
		armed(100)
		e.Close()
		e = p.accept()
		if e.opened.LastZxid != 100 {
			t.Errorf("the session was opened at %d, want 100", e.opened.LastZxid)
		}
		armed(101)
		armed(102)
		synctest.Wait()
		if c.told != 102 {
			t.Errorf("told up to %d, want 102", c.told)
		}
		c.closeOn(e)
	})
}

// A session whose server does not arm the watches again ends: its watches would never fire.
func TestSessionEndsWhereWatchesAreNotArmedAgain(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		p := newPeer(t)
		c, e := p.open(Config{}, drivers.Options{})
		w := newRecorder()
		keep(t, e, c.WatchTree, "/tree", w.watch)
		e.Close()
		e = p.accept()
		e.answer(wire.OpSetWatches2, 8, wire.ErrUnimplemented, nil)
		p.accept().closed()
		<-c.Done()
		synctest.Wait()
		w.told(t, drivers.Event{Type: drivers.Lost, Path: "/tree"})
	})
}

// A session tries the servers in turn, and the first again after the last.
func TestReconnectTriesTheServersInTurn(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		p := newPeer(t)
		c, e := p.open(Config{Servers: []string{"a:1", "b:1", "c:1"}}, drivers.Options{})
		for range 3 {
			e.Close()
			e = p.accept()
		}
		d := p.dialled()
		if len(d) != 4 || d[0] != d[3] || d[0] == d[1] || d[1] == d[2] || d[0] == d[2] {
			t.Errorf("dialled %v, want each in turn", d)
		}
		c.closeOn(e)
	})
}

// A server that a session has moved away from rejects it, and the session reconnects.
func TestReconnectWhenMoved(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		p := newPeer(t)
		c, e := p.open(Config{}, drivers.Options{})
		moved := later(func() error { return c.Delete(t.Context(), "/a", 0) })
		e.answer(wire.OpDelete, 1, wire.ErrSessionMoved, nil)
		fails(t, "delete", <-moved, drivers.ErrConnectionLoss)
		c.closeOn(p.accept())
	})
}

func TestExpiry(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		p := newPeer(t)
		st := new(states)
		c, e := p.open(Config{}, drivers.Options{OnState: st.on})
		once, persistent := newRecorder(), newRecorder()
		arm(t, c, e, once.watch)
		keep(t, e, c.WatchTree, "/tree", persistent.watch)
		unanswered := later(func() error { return c.Delete(t.Context(), "/a", 0) })
		e.next(wire.OpDelete)
		e.Close()
		fails(t, "a call in flight", <-unanswered, drivers.ErrConnectionLoss)
		waiting := later(func() error { return c.Delete(t.Context(), "/a", 0) })
		(<-p.ends).shakeHands(0)
		fails(t, "a call that waited", <-waiting, drivers.ErrSessionLost)
		<-c.Done()
		c.Close()
		if n := len(once.events); n != 3 {
			t.Errorf("%d watches were told, want 3", n)
		}
		persistent.told(t, drivers.Event{Type: drivers.Lost, Path: "/tree"})
		st.are(t, drivers.Disconnected, drivers.SessionLost)
	})
}

// The session's timeout starts with the disconnect.
func TestLostAfterTheTimeout(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		p := newPeer(t)
		st := new(states)
		c, e := p.open(Config{}, drivers.Options{OnState: st.on})
		p.refuses.Store(true)
		start := time.Now()
		e.Close()
		<-c.Done()
		if got := time.Since(start); got != 6*time.Second {
			t.Errorf("lost after %v, want the 6s granted", got)
		}
		c.Close()
		st.are(t, drivers.Disconnected, drivers.SessionGivenUp)
	})
}

func TestDialOfADeadServer(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		p := newPeer(t)
		p.refuses.Store(true)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := p.service(Config{Servers: []string{"a:1", "b:1"}}).Dial(ctx, drivers.Options{})
		if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, errRefused) {
			t.Errorf("got %v, want the deadline and why", err)
		}
		// Both without a pause, each after 10, 20, 40, 80 and 160 ms, and one after 320.
		if got, want := len(p.dialled()), 2+2*5+1; got != want || p.dialled()[0] == p.dialled()[1] {
			t.Errorf("dialled %d times in a second, %v; want %d, one server after the other", got, p.dialled(), want)
		}
	})
}
