package native

import (
	"strings"
	"time"

	"github.com/stampede-bench/stampede/drivers/native/tree"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// serve does what one request asks and queues the reply. A packet too short for
// a header ends the connection.
func (c *conn) serve(payload []byte, now time.Time) {
	var h wire.RequestHeader
	d := wire.NewDecoder(payload)
	if h.Decode(&d); d.Err() != nil {
		c.drop()
		return
	}
	switch h.Op {
	case wire.OpExists, wire.OpGetData, wire.OpGetChildren, wire.OpGetChildren2:
		c.read(h, &d)
	case wire.OpCreate, wire.OpCreate2, wire.OpDelete, wire.OpSetData, wire.OpSetACL, wire.OpCheck:
		c.write(h, &d, now)
	case wire.OpMulti:
		c.writeMulti(h, &d, now)
	case wire.OpPing:
		c.server.stats.reads++
		c.answer(wire.XidPing, wire.OK)
	case wire.OpSync:
		c.sync(h, &d)
	case wire.OpGetACL:
		c.getACL(h, &d)
	case wire.OpSetWatches:
		c.setWatches(h, &d)
	case wire.OpAuth:
		c.auth(h, &d)
	case wire.OpCloseSession:
		c.closeSession(h)
	default:
		c.refuse(h)
	}
}

// refuse answers a request that is not served. Like ZooKeeper it hangs up on
// who asks for what no server knows.
func (c *conn) refuse(h wire.RequestHeader) {
	switch h.Op {
	case wire.OpReconfig:
		c.answer(h.Xid, wire.ErrReconfigDisabled)
	case wire.OpCheckWatches, wire.OpRemoveWatches, wire.OpCreateContainer, wire.OpDeleteContainer,
		wire.OpCreateTTL, wire.OpMultiRead, wire.OpSASL, wire.OpGetEphemerals, wire.OpAllChildrenNum,
		wire.OpSetWatches2, wire.OpAddWatch, wire.OpWhoAmI:
		c.answer(h.Xid, wire.ErrUnimplemented)
	default:
		c.answer(h.Xid, wire.ErrUnimplemented)
		c.leave()
	}
}

func (c *conn) read(h wire.RequestHeader, d *wire.Decoder) {
	c.server.stats.reads++
	var r wire.PathWatch
	if r.Decode(d); d.Err() != nil {
		c.answer(h.Xid, wire.ErrMarshalling)
		return
	}
	if h.Op == wire.OpExists && strings.ContainsRune(r.Path, 0) {
		c.answer(h.Xid, wire.ErrBadArguments)
		return
	}
	n := c.server.tree.Find(r.Path)
	if r.Watch && (n != nil || h.Op == wire.OpExists) {
		c.server.watches.Arm(&c.watcher, watchedBy(h.Op), r.Path)
	}
	if n == nil {
		c.answer(h.Xid, wire.ErrNoNode)
		return
	}
	start := c.beginReply(h.Xid, wire.OK)
	switch h.Op {
	case wire.OpGetData:
		c.packets = wire.AppendBytes(c.packets, n.Data())
	case wire.OpGetChildren, wire.OpGetChildren2:
		c.packets = appendNames(c.packets, n)
	}
	if h.Op != wire.OpGetChildren {
		c.packets = n.Stat().Append(c.packets)
	}
	c.end(start)
}

// watchedBy is the table of the watches that a read arms.
func watchedBy(op int32) tree.Table {
	if op == wire.OpGetChildren || op == wire.OpGetChildren2 {
		return tree.ChildWatch
	}
	return tree.DataWatch
}

// appendNames appends a list of the node's children, as wire.Children would.
func appendNames(b []byte, n *tree.Node) []byte {
	b = wire.AppendInt(b, int32(n.NumChildren()))
	for name := range n.Children() {
		b = wire.AppendString(b, name)
	}
	return b
}

func (c *conn) sync(h wire.RequestHeader, d *wire.Decoder) {
	c.server.stats.reads++
	var r wire.Path
	if r.Decode(d); d.Err() != nil {
		c.answer(h.Xid, wire.ErrMarshalling)
		return
	}
	start := c.beginReply(h.Xid, wire.OK)
	c.packets = r.Append(c.packets)
	c.end(start)
}

func (c *conn) getACL(h wire.RequestHeader, d *wire.Decoder) {
	c.server.stats.reads++
	var r wire.Path
	if r.Decode(d); d.Err() != nil {
		c.answer(h.Xid, wire.ErrMarshalling)
		return
	}
	n := c.server.tree.Find(r.Path)
	if n == nil {
		c.answer(h.Xid, wire.ErrNoNode)
		return
	}
	start := c.beginReply(h.Xid, wire.OK)
	c.packets = wire.ACLStat{ACL: []wire.ACL{wire.OpenACL()}, Stat: n.Stat()}.Append(c.packets)
	c.end(start)
}

// auth takes credentials. As nothing is protected they change nothing.
func (c *conn) auth(h wire.RequestHeader, d *wire.Decoder) {
	var r wire.AuthRequest
	if r.Decode(d); d.Err() != nil {
		c.drop()
		return
	}
	reply := wire.ReplyHeader{Xid: h.Xid}
	known := r.Scheme == "digest" || r.Scheme == "ip"
	if !known {
		reply.Err = wire.ErrAuthFailed
	}
	c.queue(reply)
	if !known {
		c.leave()
	}
}

func (c *conn) closeSession(h wire.RequestHeader) {
	c.server.stats.writes++
	c.server.closeSession(c.session.id)
	c.answer(h.Xid, wire.OK)
	c.leave()
}

// unknownZxid is that of notifications that catch up on changes of the past.
const unknownZxid = -1

// setWatches arms watches again after a reconnect, or fires them at once if
// their node has changed since.
func (c *conn) setWatches(h wire.RequestHeader, d *wire.Decoder) {
	c.server.stats.reads++
	var r wire.SetWatchesRequest
	if r.Decode(d); d.Err() != nil {
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
	c.answer(h.Xid, wire.OK)
}

// rearm arms a watch unless it has missed an event, and then tells it.
func (c *conn) rearm(table tree.Table, path string, missed int32) {
	if missed == nothing {
		c.server.watches.Arm(&c.watcher, table, path)
		return
	}
	c.notify(tree.Event{Type: missed, Path: path}, unknownZxid)
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
