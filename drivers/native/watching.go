package native

import (
	"github.com/stampede-bench/stampede/drivers/native/tree"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// addWatch arms a watch that stays. A recursive one has no need of the table of
// children: it hears of each by itself.
func (c *conn) addWatch(h wire.RequestHeader, d *wire.Decoder) {
	var r wire.AddWatchRequest
	r.Decode(d)
	switch {
	case d.Err() != nil:
		c.answer(h.Xid, wire.ErrMarshalling)
		return
	case r.Mode == wire.AddWatchPersistent:
		c.persist(r.Path)
	case r.Mode == wire.AddWatchRecursive:
		c.server.watches.Arm(&c.watcher, tree.DataWatch, r.Path, tree.Recursive)
	default:
		c.answer(h.Xid, wire.ErrMarshalling)
		return
	}
	c.reply(h, wire.Int{})
}

func (c *conn) persist(path string) {
	c.server.watches.Arm(&c.watcher, tree.DataWatch, path, tree.Persistent)
	c.server.watches.Arm(&c.watcher, tree.ChildWatch, path, tree.Persistent)
}

// findWatches serves checkWatches and removeWatches.
func (c *conn) findWatches(h wire.RequestHeader, d *wire.Decoder) {
	var r wire.PathWatcher
	r.Decode(d)
	modes, known := watchModes(r.Type)
	if d.Err() != nil || !known {
		c.answer(h.Xid, wire.ErrMarshalling)
		return
	}
	err := wire.ErrNoWatcher
	for _, table := range []tree.Table{tree.DataWatch, tree.ChildWatch} {
		if c.hasWatch(h.Op, table, r.Path, modes[table]) {
			err = wire.OK
		}
	}
	c.answer(h.Xid, err)
}

// hasWatch tells whether c has one of the watches, which removeWatches takes away.
func (c *conn) hasWatch(op int32, table tree.Table, path string, modes tree.WatchMode) bool {
	if op == wire.OpRemoveWatches {
		return c.server.watches.Disarm(&c.watcher, table, path, modes)
	}
	return c.server.watches.Armed(&c.watcher, table, path)&modes != 0
}

// watchModes is what a type of watchers means in the two tables.
func watchModes(kind int32) (modes [2]tree.WatchMode, known bool) {
	switch kind {
	case wire.WatcherChildren:
		modes[tree.ChildWatch] = tree.Standard
	case wire.WatcherData:
		modes[tree.DataWatch] = tree.Standard
	case wire.WatcherPersistent:
		modes = [2]tree.WatchMode{tree.Persistent, tree.Persistent}
	case wire.WatcherRecursive:
		modes[tree.DataWatch] = tree.Recursive
	case wire.WatcherAny:
		modes = [2]tree.WatchMode{tree.AnyMode, tree.AnyMode}
	default:
		return modes, false
	}
	return modes, true
}

// unknownZxid is that of notifications that catch up on changes of the past, and
// of replies to what was not even looked at.
const unknownZxid = -1

// setWatches arms watches again after a reconnect, or fires them at once if
// their node has changed since.
func (c *conn) setWatches(h wire.RequestHeader, d *wire.Decoder) {
	var r wire.SetWatches2Request
	if h.Op == wire.OpSetWatches2 {
		r.Decode(d)
	} else {
		r.SetWatchesRequest.Decode(d)
	}
	if d.Err() != nil {
		c.answer(h.Xid, wire.ErrMarshalling)
		return
	}
	for _, path := range r.Data {
		c.rearm(tree.DataWatch, path, dataSince(c.server.tree.Find(path), r.RelativeZxid))
	}
	for _, path := range r.Exist {
		c.rearm(tree.DataWatch, path, existsNow(c.server.tree.Find(path)))
	}
	for _, path := range r.Child {
		c.rearm(tree.ChildWatch, path, childrenSince(c.server.tree.Find(path), r.RelativeZxid))
	}
	for _, path := range r.Persistent {
		c.persist(path)
	}
	for _, path := range r.Recursive {
		c.server.watches.Arm(&c.watcher, tree.DataWatch, path, tree.Recursive)
	}
	c.answer(h.Xid, wire.OK)
}

// rearm arms a watch unless it has missed an event, and then tells it.
func (c *conn) rearm(table tree.Table, path string, missed int32) {
	if missed == nothing {
		c.server.watches.Arm(&c.watcher, table, path, tree.Standard)
		return
	}
	c.tell(tree.Event{Type: missed, Path: path}, unknownZxid)
}

// nothing is the type of no event.
const nothing int32 = 0

func dataSince(n *tree.Node, zxid int64) int32 {
	switch {
	case n == nil:
		return wire.EventDeleted
	case n.Stat().Mzxid > zxid:
		return wire.EventDataChanged
	}
	return nothing
}

func existsNow(n *tree.Node) int32 {
	if n != nil {
		return wire.EventCreated
	}
	return nothing
}

func childrenSince(n *tree.Node, zxid int64) int32 {
	switch {
	case n == nil:
		return wire.EventDeleted
	case n.Stat().Pzxid > zxid:
		return wire.EventChildrenChanged
	}
	return nothing
}
