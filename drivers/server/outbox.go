package server

import (
	"io"
	"slices"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/drivers/server/tree"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// An outbox holds the packets that a connection has yet to send. Goroutines fill it under the
// server's lock; the connection's sender empties it and may wait for the client.
type outbox struct {
	mu      sync.Mutex
	changed *sync.Cond
	packets []byte
	unasked int    // bytes of notifications not written yet
	sending int    // bytes of notifications taken for the current write
	shows   int64  // the zxid of the latest state that the packets may show
	spare   []byte // the buffer that was sent last
	ended   bool   // no more packets are added
	broken  bool   // sending failed

	writing time.Time // when the write in progress began; zero if there is none
}

const (
	// crowded is the number of bytes of replies in an outbox above which the server stops reading
	// the connection's requests until some are sent.
	crowded = 1 << 20
	// maxUnasked is the number of bytes of notifications that may wait for a client that has
	// stopped reading. Beyond it, the next transaction drops the client.
	maxUnasked = 1 << 20
	// maxUnread is the number of bytes of notifications that may wait for any client. Beyond it,
	// the next transaction drops the client.
	maxUnread = 16 << 20
	// stalledAfter is the duration of the write of one piece after which the client counts as
	// having stopped reading.
	stalledAfter = 5 * time.Second
	// writtenAtOnce is the size of such a piece in bytes.
	writtenAtOnce = 64 << 10
	// keptBuffer is the size in bytes of the largest buffer that is reused.
	keptBuffer = 64 << 10
)

func newOutbox() *outbox {
	o := &outbox{}
	o.changed = sync.NewCond(&o.mu)
	return o
}

// add queues packets. The notifications among them take unasked bytes, and the packets show no
// state later than the zxid. It returns a buffer to use in place of packets, and whether the client
// has kept up so far. The size of the new packets does not count, as it says nothing about the
// client.
func (o *outbox) add(packets []byte, unasked int, zxid int64) (buf []byte, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.broken || o.ended {
		return packets[:0], true
	}
	ok = o.unasked <= maxUnread && (o.unasked <= maxUnasked || !o.stalled())
	o.unasked += unasked
	o.shows = zxid
	if len(o.packets) == 0 {
		o.packets, packets = packets, o.packets
		o.changed.Broadcast()
	} else {
		o.packets = append(o.packets, packets...)
	}
	return reuse(packets), ok
}

// stalled reports whether the current write has waited for the client for stalledAfter or longer.
// Time in which the disk holds the packets back does not count.
func (o *outbox) stalled() bool {
	return !o.writing.IsZero() && time.Since(o.writing) >= stalledAfter
}

// roomy waits until the outbox is not crowded with replies. Notifications do not count: the server
// still reads the heartbeats of a client that reads notifications slowly.
func (o *outbox) roomy() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.packets)-(o.unasked-o.sending) > crowded && !o.broken {
		o.changed.Wait()
	}
}

// end marks the outbox as complete: no more packets are added.
func (o *outbox) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended = true
	o.changed.Broadcast()
}

// sendTo writes queued packets until the outbox ends or an error occurs. Before each write it waits
// until the state that the packets show is durable.
func (o *outbox) sendTo(w io.Writer, await func(zxid int64) error) {
	for {
		packets, zxid := o.take()
		if packets == nil {
			return
		}
		err := await(zxid)
		if err == nil {
			err = o.write(w, packets)
		}
		if err != nil {
			o.abandon()
			return
		}
		o.spare = reuse(packets)
	}
}

// write writes in pieces, so that a slow client's progress is visible.
func (o *outbox) write(w io.Writer, packets []byte) error {
	for piece := range slices.Chunk(packets, writtenAtOnce) {
		o.beginWrite()
		if _, err := w.Write(piece); err != nil {
			return err
		}
	}
	return nil
}

func (o *outbox) beginWrite() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.writing = time.Now()
}

// take waits for packets and returns all of them with the zxid of the state that they show. It
// returns nil when the outbox has ended.
func (o *outbox) take() (packets []byte, zxid int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.unasked -= o.sending // these have been written
	o.sending, o.writing = 0, time.Time{}
	for len(o.packets) == 0 {
		if o.ended {
			return nil, 0
		}
		o.changed.Wait()
	}
	packets = o.packets
	if len(packets) > crowded {
		o.changed.Broadcast()
	}
	o.packets, o.sending = o.spare, o.unasked
	return packets, o.shows
}

func (o *outbox) abandon() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.broken, o.packets = true, nil
	o.changed.Broadcast()
}

func reuse(buf []byte) []byte {
	if cap(buf) > keptBuffer {
		return nil
	}
	return buf[:0]
}

// The journal limits the transactions that are applied but not yet on disk. If a connection's next
// request is a write beyond that limit, the server stops reading from this connection until the
// disk catches up; the client notices when its socket is full. Reads, and connections that have no
// write to wait for, are served without delay.

// lockFor locks the server when it can serve the request.
func (c *conn) lockFor(payload []byte) {
	if isWrite(payload) || c.server.ensemble != nil {
		c.lockForWrite()
	} else {
		c.server.mu.Lock()
	}
}

// lockForWrite locks the server when the journal has room for a write of c or when c was dropped.
func (c *conn) lockForWrite() {
	s := c.server
	s.mu.Lock()
	for full := c.noRoom(); full != nil && !c.dropped; full = c.noRoom() {
		c.waits = true
		s.unlock()
		select {
		case <-full:
		case <-s.done:
		}
		s.mu.Lock()
		c.waits = false
	}
	if s.ensemble != nil {
		s.ensemble.look()
	}
}

// noRoom returns nil if the journal has room for a write of c. Otherwise it returns a channel that
// is closed when the caller should check again. The caller must hold the lock.
func (c *conn) noRoom() <-chan struct{} {
	switch {
	case c.server.ensemble != nil:
		return c.server.ensemble.noRoom(c)
	case c.server.journal == nil:
		return nil
	}
	return c.server.journal.Room(c.wrote)
}

// hasToWait reports whether the request has to wait for the disk. The caller must hold the lock.
func (c *conn) hasToWait(payload []byte) bool {
	return (isWrite(payload) || c.server.ensemble != nil) && c.noRoom() != nil
}

// isWrite reports whether a packet requests a transaction.
func isWrite(payload []byte) bool {
	var h wire.RequestHeader
	d := wire.NewDecoder(payload)
	h.Decode(&d)
	return d.Err() == nil && isWriteOp(h.Op)
}

func isWriteOp(op int32) bool {
	switch op {
	case wire.OpCreate, wire.OpCreate2, wire.OpCreateContainer, wire.OpCreateTTL, wire.OpDelete,
		wire.OpDeleteContainer, wire.OpSetData, wire.OpSetACL, wire.OpCheck, wire.OpMulti,
		wire.OpReconfig, wire.OpCloseSession:
		return true
	}
	return false
}

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
