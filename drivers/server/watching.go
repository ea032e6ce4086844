package server

import (
	"github.com/stampede-bench/stampede/drivers/server/tree"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// addWatch arms a persistent watch. A recursive watch does not need the table of child watches: it
// fires for each descendant's own events.
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

// hasWatch reports whether c has one of the watches. For removeWatches it also removes them.
func (c *conn) hasWatch(op int32, table tree.Table, path string, modes tree.WatchMode) bool {
	if op == wire.OpRemoveWatches {
		return c.server.watches.Disarm(&c.watcher, table, path, modes)
	}
	return c.server.watches.Armed(&c.watcher, table, path)&modes != 0
}

// watchModes returns the watch modes in the two tables that a type of watcher stands for.
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

// unknownZxid is the zxid of notifications of past changes, and of replies to unknown requests.
const unknownZxid = -1

// setWatches rearms watches after a reconnect. It fires a watch immediately if its node has changed
// since.
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

// rearm arms a watch, or sends the notification that it missed.
func (c *conn) rearm(table tree.Table, path string, missed int32) {
	if missed == nothing {
		c.server.watches.Arm(&c.watcher, table, path, tree.Standard)
		return
	}
	c.tell(tree.Event{Type: missed, Path: path}, unknownZxid)
}

// nothing means no event.
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
