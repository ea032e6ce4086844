package native

import (
	"net"
	"time"

	"github.com/stampede-bench/stampede/drivers/native/tree"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// A conn is one connection. What is not its own goroutines' is guarded by the
// server's lock.
type conn struct {
	server *Server
	net    net.Conn
	in     wire.Frames
	out    *outbox

	session *session // nil before it is established, and after it is left
	watcher tree.Watcher
	who     []tree.Identity // in place of which a new list is put, never a longer one
	traffic traffic
	packets []byte // queued under the lock that is being held
	unasked int    // bytes of notifications among them
	dropped bool   // nothing that arrives is heeded any more
}

const (
	// handshakeTime is how long a connection may take to say what it wants.
	handshakeTime = 10 * time.Second
	// farewellTime is how long a client may take to read its last packets.
	farewellTime = 5 * time.Second
	// idleBuffer is the size in bytes of the largest buffer for requests that a
	// connection keeps.
	idleBuffer = 64 << 10
)

func newConn(s *Server, nc net.Conn) *conn {
	c := &conn{server: s, net: nc, in: wire.NewFrames(nc, wire.MaxPacket, idleBuffer), out: newOutbox()}
	c.who = []tree.Identity{address(nc)}
	c.traffic.opened = time.Now()
	c.watcher.Notify = c.notify
	return c
}

// send writes what is queued until there is no more, and hangs up.
func (c *conn) send() {
	c.out.sendTo(c.net)
	c.net.Close()
}

// receive does what the client asks until it leaves or is dropped.
func (c *conn) receive() {
	if c.shakeHands() {
		for c.serveBatch() {
		}
	}
	c.server.mu.Lock()
	c.leave()
	delete(c.server.conns, c)
	c.server.unlock()
	c.net.SetWriteDeadline(time.Now().Add(farewellTime))
	c.out.end()
}

// shakeHands reports whether a session was established.
func (c *conn) shakeHands() bool {
	c.net.SetReadDeadline(time.Now().Add(handshakeTime))
	word, err := c.in.Head()
	if err != nil || c.answerWord(word) {
		return false
	}
	payload, err := c.in.Next()
	if err != nil || !c.answerConnect(payload) {
		return false
	}
	return c.net.SetReadDeadline(time.Time{}) == nil
}

// serveBatch waits for a request and serves it, with those that arrived behind
// it, under one lock. It reports whether there may be more.
func (c *conn) serveBatch() bool {
	c.out.roomy()
	payload, err := c.in.Next()
	if err != nil {
		return false
	}
	began := time.Now()
	s := c.server
	s.mu.Lock()
	defer s.unlock()
	for {
		if c.dropped {
			return false
		}
		s.stats.received++
		c.serve(payload, began)
		if !c.in.Ready() || len(c.packets) > crowded {
			break
		}
		if payload, err = c.in.Next(); err != nil {
			return false
		}
	}
	if c.session != nil {
		s.heardOf(c.session)
	}
	took := time.Since(began)
	s.stats.took(took)
	c.traffic.took(began, took)
	return !c.dropped
}

// leave parts the connection from its session and its watches, so that nothing
// more happens on behalf of the one or by the other.
func (c *conn) leave() {
	c.dropped = true
	c.server.watches.Forget(&c.watcher)
	if c.session != nil {
		c.session.conn, c.session = nil, nil
	}
}

// drop leaves and hangs up at once.
func (c *conn) drop() {
	c.leave()
	c.net.Close()
}

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

// notify queues a notification, if the client may know of the change. A watch on
// a node may tell of others below it.
func (c *conn) notify(e tree.Event, zxid int64) {
	if e.Node != nil && !e.Node.Allows(wire.PermRead, c.who) {
		return
	}
	start := c.begin()
	c.packets = wire.ReplyHeader{Xid: wire.XidNotification, Zxid: zxid}.Append(c.packets)
	c.packets = wire.WatcherEvent{Type: e.Type, State: wire.StateConnected, Path: e.Path}.Append(c.packets)
	c.end(start)
	c.unasked += len(c.packets) - start
}

// handOver gives what is queued to the sender, and drops a client that does not
// read what it is told.
func (c *conn) handOver() {
	var ok bool
	if c.packets, ok = c.out.add(c.packets, c.unasked); !ok && !c.dropped {
		c.drop()
	}
	c.unasked = 0
}
