package native

import (
	"github.com/stampede-bench/stampede/drivers/native/tree"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// A record is what a packet's payload, or the part behind its header, consists of.
type record interface{ Append(b []byte) []byte }

// begin begins a packet, and end ends it; what is appended to c.packets between
// the two is its payload.
func (c *conn) begin() (start int) {
	if len(c.packets) == 0 {
		c.server.queued = append(c.server.queued, c)
	}
	start = len(c.packets)
	c.packets = wire.Begin(c.packets)
	return start
}

func (c *conn) end(start int) {
	wire.End(c.packets, start)
	c.server.stats.sent++
	c.traffic.sent++
}

// queue queues a packet of just a record.
func (c *conn) queue(r record) {
	start := c.begin()
	c.packets = r.Append(c.packets)
	c.end(start)
}

// beginReply begins a reply to the request with the xid.
func (c *conn) beginReply(xid int32, err wire.Err) (start int) {
	start = c.begin()
	c.packets = wire.ReplyHeader{Xid: xid, Zxid: c.server.tree.Zxid(), Err: err}.Append(c.packets)
	return start
}

// answer queues a reply that is a header alone.
func (c *conn) answer(xid int32, err wire.Err) { c.end(c.beginReply(xid, err)) }

// reply queues a reply that succeeded.
func (c *conn) reply(h wire.RequestHeader, r record) {
	start := c.beginReply(h.Xid, wire.OK)
	c.packets = r.Append(c.packets)
	c.end(start)
}

// notify queues a notification that nobody asked for just now, if the client may
// know of the change. A watch on a node may tell of others below it.
func (c *conn) notify(e tree.Event, zxid int64) {
	if e.Node.Allows(wire.PermRead, c.who) {
		before := len(c.packets)
		c.tell(e, zxid)
		c.unasked += len(c.packets) - before
	}
}

// tell queues a notification.
func (c *conn) tell(e tree.Event, zxid int64) {
	start := c.begin()
	c.packets = wire.ReplyHeader{Xid: wire.XidNotification, Zxid: zxid}.Append(c.packets)
	c.packets = wire.WatcherEvent{Type: e.Type, State: wire.StateConnected, Path: e.Path}.Append(c.packets)
	c.end(start)
}

// handOver gives what is queued to the sender, and drops a client that does not
// read what it is told.
func (c *conn) handOver() {
	var ok bool
	if c.packets, ok = c.out.add(c.packets, c.unasked, c.server.tree.Zxid()); !ok && !c.dropped {
		c.drop()
	}
	c.unasked = 0
}
