package lean

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/wire"
	"github.com/stampede-bench/stampede/internal/bubble"
)

// once arms a one-shot watch with a get, and reports whether the request asks the server for a
// watch.
func once(t *testing.T, c *Conn, e *end, path string, w drivers.Watch) (asked bool) {
	t.Helper()
	read := later(func() error { _, _, err := c.Get(t.Context(), path, w); return err })
	xid, d := e.next(wire.OpGetData)
	var r wire.PathWatch
	r.Decode(&d)
	e.reply(xid, 1, wire.OK, wire.DataStat{})
	if err := <-read; err != nil {
		t.Fatal(err)
	}
	return r.Watch
}

// A server keeps one watch for each path of a connection: a read does not replace the persistent
// watch, and gets its event from it.
func TestReadsAreToldByALastingWatch(t *testing.T) {
	connected(t, func(t *testing.T, _ *peer, c *Conn, e *end) {
		persistent, read, elsewhere := newRecorder(), newRecorder(), newRecorder()
		keep(t, e, c.WatchNode, "/a", persistent.watch)
		if once(t, c, e, "/a", read.watch) {
			t.Error("the server was asked to watch /a once, which it does for good")
		}
		if !once(t, c, e, "/b", elsewhere.watch) {
			t.Error("the server was not asked to watch /b")
		}
		e.notify(wire.EventDataChanged, "/a")
		e.notify(wire.EventDataChanged, "/a")
		synctest.Wait()
		changed := drivers.Event{Type: drivers.DataChanged, Path: "/a"}
		persistent.told(t, changed, changed)
		read.told(t, changed)
		elsewhere.told(t)
	})
}

// A server older than persistent watches answers that it does not know the request, and closes
// the connection. The session survives, and reads arm watches of their own.
func TestServerWithoutLastingWatches(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		p := newPeer(t)
		c, e := p.open(Config{}, drivers.Options{})
		w := newRecorder()
		for name, arm := range map[string]func(context.Context, string, drivers.Watch) (func(), error){
			"watch node": c.WatchNode, "watch tree": c.WatchTree,
		} {
			failed := later(func() error { _, err := arm(t.Context(), "/a", w.watch); return err })
			e.answer(wire.OpAddWatch, 1, wire.ErrUnimplemented, nil)
			e.Close()
			want := name + " /a: not supported here: persistent watches take ZooKeeper 3.6 or newer"
			if err := <-failed; !errors.Is(err, drivers.ErrUnsupported) || err.Error() != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}
			e = p.accept()
		}
		if !once(t, c, e, "/a", newRecorder().watch) {
			t.Error("the server was not asked to watch /a")
		}
		c.closeOn(e)
		w.told(t)
	})
}

// A tree's watch does not report that children have changed. So a node's watch on the same
// path gets that event when a child is created or deleted.
func TestNodeIsToldByTheTree(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		p := newPeer(t)
		c, e := p.open(Config{}, drivers.Options{})
		node, tree, list := newRecorder(), newRecorder(), newRecorder()
		keep(t, e, c.WatchTree, "/", tree.watch)
		armed := later(func() error { _, err := c.WatchNode(t.Context(), "/", node.watch); return err })
		xid, d := e.next(wire.OpAddWatch)
		var r wire.AddWatchRequest
		r.Decode(&d)
		if r.Mode != wire.AddWatchRecursive {
			t.Errorf("mode %d, which would take the tree's watch away", r.Mode)
		}
		e.reply(xid, 1, wire.OK, wire.Int{})
		if err := <-armed; err != nil {
			t.Fatal(err)
		}
		listed := later(func() error { _, err := c.Children(t.Context(), "/", list.watch); return err })
		e.answer(wire.OpGetChildren, 1, wire.OK, wire.Children{})
		if err := <-listed; err != nil {
			t.Fatal(err)
		}
		e.notify(wire.EventCreated, "/a")
		e.notify(wire.EventDataChanged, "/a")
		e.notify(wire.EventCreated, "/a/b")
		synctest.Wait()
		node.told(t, drivers.Event{Type: drivers.ChildrenChanged, Path: "/"})
		list.told(t, drivers.Event{Type: drivers.ChildrenChanged, Path: "/"})
		tree.told(t, drivers.Event{Type: drivers.Created, Path: "/a"}, drivers.Event{Type: drivers.DataChanged, Path: "/a"},
			drivers.Event{Type: drivers.Created, Path: "/a/b"})
		c.closeOn(e)
	})
}

// The last watch that is stopped disarms the server's watch, unless a read relies on it.
func TestStopDisarms(t *testing.T) {
	connected(t, func(t *testing.T, _ *peer, c *Conn, e *end) {
		w, read := newRecorder(), newRecorder()
		first := keep(t, e, c.WatchTree, "/a", w.watch)
		second := keep(t, e, c.WatchTree, "/a", w.watch)
		first()
		once(t, c, e, "/b", w.watch) // no request was sent in between
		second()
		second()
		e.answer(wire.OpRemoveWatches, 1, wire.OK, nil)

		third := keep(t, e, c.WatchTree, "/a", w.watch)
		once(t, c, e, "/a", read.watch)
		third()
		e.notify(wire.EventDeleted, "/a")
		once(t, c, e, "/b", w.watch) // no request was sent in between
		read.told(t, drivers.Event{Type: drivers.Deleted, Path: "/a"})
		w.told(t)
	})
}

// A read that relied on a persistent watch is repeated with a watch of its own, if that watch was
// disarmed while the read was in flight.
func TestReadIsAskedAgain(t *testing.T) {
	connected(t, func(t *testing.T, _ *peer, c *Conn, e *end) {
		w, read := newRecorder(), newRecorder()
		stop := keep(t, e, c.WatchNode, "/a", w.watch)
		done := later(func() error { _, _, err := c.Get(t.Context(), "/a", read.watch); return err })
		first, _ := e.next(wire.OpGetData)
		stop()
		removal, _ := e.next(wire.OpRemoveWatches)
		e.reply(first, 1, wire.OK, wire.DataStat{})
		again, d := e.next(wire.OpGetData)
		var r wire.PathWatch
		r.Decode(&d)
		if !r.Watch {
			t.Error("asked again without a watch")
		}
		e.reply(removal, 1, wire.OK, nil)
		e.reply(again, 2, wire.OK, wire.DataStat{})
		if err := <-done; err != nil {
			t.Error(err)
		}
		e.notify(wire.EventDataChanged, "/a")
		synctest.Wait()
		read.told(t, drivers.Event{Type: drivers.DataChanged, Path: "/a"})
	})
}

// A server without persistent watches returns an error, and reads arm watches as before.
func TestLastingWatchesUnsupported(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		p := newPeer(t)
		c, e := p.open(Config{}, drivers.Options{})
		w := newRecorder()
		failed := later(func() error { _, err := c.WatchTree(t.Context(), "/a", w.watch); return err })
		e.answer(wire.OpAddWatch, 1, wire.ErrUnimplemented, nil)
		fails(t, "watch", <-failed, drivers.ErrUnsupported)
		if !once(t, c, e, "/a", w.watch) {
			t.Error("the server was not asked to watch /a")
		}
		c.closeOn(e)
		w.told(t, drivers.Event{Type: drivers.Lost, Path: "/a"})
	})
}

// Below a chroot, events have the paths of the caller.
func TestLastingWatchInChroot(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		p := newPeer(t)
		opened := make(chan *Conn)
		s := p.service(Config{Chroot: "/base"})
		go func() {
			c, err := s.Dial(t.Context(), drivers.Options{})
			if err != nil {
				t.Error(err)
			}
			opened <- c.(*Conn)
		}()
		e := p.accept()
		e.answer(wire.OpExists, 1, wire.OK, wire.Stat{})
		c := <-opened
		root, below := newRecorder(), newRecorder()
		keep(t, e, c.WatchTree, "/", root.watch)
		keep(t, e, c.WatchTree, "/a", below.watch)
		for _, path := range []string{"/base", "/base/a", "/base/a/b", "/basement"} {
			e.notify(wire.EventDataChanged, path)
		}
		synctest.Wait()
		changed := func(path string) drivers.Event { return drivers.Event{Type: drivers.DataChanged, Path: path} }
		root.told(t, changed("/"), changed("/a"), changed("/a/b"))
		below.told(t, changed("/a"), changed("/a/b"))
		c.closeOn(e)
	})
}
