package server

import (
	"time"

	"github.com/stampede-bench/stampede/drivers/server/tree"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// A record is a packet's payload or the part of it that follows the header.
type record interface{ Append(b []byte) []byte }

// begin starts a packet and end completes it. The bytes appended to c.packets in between are its
// payload.
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
	c.server.stats.Sent++
	c.traffic.Sent++
}

// queue queues a packet that consists of one record.
func (c *conn) queue(r record) {
	start := c.begin()
	c.packets = r.Append(c.packets)
	c.end(start)
}

// beginReply starts a reply to the request with the xid.
func (c *conn) beginReply(xid int32, err wire.Err) (start int) {
	start = c.begin()
	c.packets = wire.ReplyHeader{Xid: xid, Zxid: c.server.tree.Zxid(), Err: err}.Append(c.packets)
	return start
}

// answer queues a reply that consists of a header only.
func (c *conn) answer(xid int32, err wire.Err) { c.end(c.beginReply(xid, err)) }

// reply queues a successful reply.
func (c *conn) reply(h wire.RequestHeader, r record) {
	start := c.beginReply(h.Xid, wire.OK)
	c.packets = r.Append(c.packets)
	c.end(start)
}

// notify queues a notification of a new event if the client may read the node. The check is needed
// because a watch on a node may report events of its descendants.
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

// handOver passes the queued packets to the outbox, and drops a client that does not read its
// notifications.
func (c *conn) handOver() {
	var ok bool
	if c.packets, ok = c.out.add(c.packets, c.unasked, c.server.tree.Zxid()); !ok && !c.dropped {
		c.drop()
	}
	c.unasked = 0
	if c.last { // the goroutine that reads may wait for the client
		c.net.SetWriteDeadline(time.Now().Add(farewellTime))
		c.out.end()
	}
}
