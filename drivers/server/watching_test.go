package server

import (
	"testing"

	"github.com/stampede-bench/stampede/drivers/wire"
)

// wantEvents reads notifications.
func (r *raw) wantEvents(want ...wire.WatcherEvent) {
	r.t.Helper()
	for _, w := range want {
		w.State = wire.StateConnected
		p := r.read()
		if e := p.event(); p.Xid != wire.XidNotification || e != w {
			r.t.Errorf("got xid %d, %+v; want %+v", p.Xid, e, w)
		}
	}
}

// A persistent watch reports events of the node and of its list of children, a recursive watch
// those of every node below. Both fire every time, with the zxid of the change.
func TestPersistentWatches(t *testing.T) {
	s := newServer(t)
	node, all, writer := openRaw(t, s), openRaw(t, s), openRaw(t, s)
	p := node.ask(1, wire.OpAddWatch, wire.AddWatchRequest{Path: "/a", Mode: wire.AddWatchPersistent})
	node.wantReply(p, 1, wire.OK)
	if n := len(p.body.Rest()); n != 4 {
		t.Errorf("%d bytes behind the header, want an int", n)
	}
	all.wantReply(all.ask(1, wire.OpAddWatch, wire.AddWatchRequest{Path: "/a", Mode: wire.AddWatchRecursive}), 1, wire.OK)
	for range 2 {
		writer.ask(1, wire.OpCreate, open("/a", 0))
		writer.ask(2, wire.OpCreate, open("/a/b", 0))
		writer.ask(3, wire.OpSetData, wire.SetDataRequest{Path: "/a/b", Version: -1})
		writer.ask(4, wire.OpDelete, wire.PathVersion{Path: "/a/b", Version: -1})
		writer.ask(5, wire.OpDelete, wire.PathVersion{Path: "/a", Version: -1})
		node.wantEvents(
			wire.WatcherEvent{Type: wire.EventCreated, Path: "/a"}, wire.WatcherEvent{Type: wire.EventChildrenChanged, Path: "/a"},
			wire.WatcherEvent{Type: wire.EventChildrenChanged, Path: "/a"}, wire.WatcherEvent{Type: wire.EventDeleted, Path: "/a"})
		all.wantEvents(
			wire.WatcherEvent{Type: wire.EventCreated, Path: "/a"}, wire.WatcherEvent{Type: wire.EventCreated, Path: "/a/b"},
			wire.WatcherEvent{Type: wire.EventDataChanged, Path: "/a/b"},
			wire.WatcherEvent{Type: wire.EventDeleted, Path: "/a/b"}, wire.WatcherEvent{Type: wire.EventDeleted, Path: "/a"})
	}
}

// A removed watch does not fire; the remaining watches do.
func TestRemovedWatchesAreSilent(t *testing.T) {
	s := newServer(t)
	r, writer := openRaw(t, s), openRaw(t, s)
	writer.ask(1, wire.OpCreate, open("/a", 0))
	has := func(op, kind int32, want wire.Err) {
		t.Helper()
		r.wantReply(r.ask(1, op, wire.PathWatcher{Path: "/a", Type: kind}), 1, want)
	}
	r.ask(2, wire.OpGetData, wire.PathWatch{Path: "/a", Watch: true})
	r.ask(3, wire.OpGetChildren, wire.PathWatch{Path: "/a", Watch: true})
	has(wire.OpCheckWatches, wire.WatcherData, wire.OK)
	has(wire.OpCheckWatches, wire.WatcherChildren, wire.OK)
	has(wire.OpCheckWatches, wire.WatcherPersistent, wire.ErrNoWatcher)
	has(wire.OpRemoveWatches, wire.WatcherData, wire.OK)
	has(wire.OpRemoveWatches, wire.WatcherData, wire.ErrNoWatcher)
	writer.ask(2, wire.OpSetData, wire.SetDataRequest{Path: "/a", Version: -1})
	writer.ask(3, wire.OpCreate, open("/a/b", 0))
	r.wantEvents(wire.WatcherEvent{Type: wire.EventChildrenChanged, Path: "/a"})

	r.ask(4, wire.OpAddWatch, wire.AddWatchRequest{Path: "/a", Mode: wire.AddWatchPersistent})
	r.ask(5, wire.OpAddWatch, wire.AddWatchRequest{Path: "/a", Mode: wire.AddWatchRecursive})
	has(wire.OpRemoveWatches, wire.WatcherPersistent, wire.OK)
	has(wire.OpCheckWatches, wire.WatcherRecursive, wire.OK)
	has(wire.OpRemoveWatches, wire.WatcherAny, wire.OK)
	has(wire.OpCheckWatches, wire.WatcherAny, wire.ErrNoWatcher)
	writer.ask(4, wire.OpSetData, wire.SetDataRequest{Path: "/a", Version: -1})
	r.wantReply(r.ask(6, wire.OpExists, wire.PathWatch{Path: "/a"}), 6, wire.OK)
	if n := s.watches.Len(); n != 0 {
		t.Errorf("%d watches left", n)
	}
}

// After a reconnect, setWatches2 rearms persistent watches, which do not report missed events, and
// other watches, which do.
func TestSetWatches2(t *testing.T) {
	s := newServer(t)
	r, writer := openRaw(t, s), openRaw(t, s)
	zxid := writer.ask(1, wire.OpCreate, open("/a", 0)).Zxid
	writer.ask(2, wire.OpSetData, wire.SetDataRequest{Path: "/a", Version: -1})
	r.write(request(1, wire.OpSetWatches2, wire.SetWatches2Request{
		SetWatchesRequest: wire.SetWatchesRequest{RelativeZxid: zxid, Data: []string{"/a"}},
		Persistent:        []string{"/a"}, Recursive: []string{"/"},
	}))
	r.wantEvents(wire.WatcherEvent{Type: wire.EventDataChanged, Path: "/a"})
	r.wantReply(r.read(), 1, wire.OK)
	writer.ask(3, wire.OpCreate, open("/a/b", 0))
	r.wantEvents(wire.WatcherEvent{Type: wire.EventCreated, Path: "/a/b"},
		wire.WatcherEvent{Type: wire.EventChildrenChanged, Path: "/a"})
}
