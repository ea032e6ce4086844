package native

import "github.com/stampede-bench/stampede/drivers/wire"

// The journal bounds what is applied and not on disk yet. A connection whose next
// request is a write beyond that bound is not read any more until the disk has
// caught up: its client notices when its socket is full. Requests that write
// nothing, and connections with no write of their own to wait for, go on.

// lockFor locks the server when the request may be served.
func (c *conn) lockFor(payload []byte) {
	if isWrite(payload) {
		c.lockForWrite()
	} else {
		c.server.mu.Lock()
	}
}

// lockForWrite locks the server when the journal has room for a write of c, or c
// was dropped.
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
}

// noRoom returns nil if the journal has room for a write of c, or a channel that is
// closed when it is worth asking again. It must be called with the lock held.
func (c *conn) noRoom() <-chan struct{} {
	if c.server.journal == nil {
		return nil
	}
	return c.server.journal.Room(c.wrote)
}

// hasToWait tells whether the request has to wait for the disk. It must be called
// with the lock held.
func (c *conn) hasToWait(payload []byte) bool { return isWrite(payload) && c.noRoom() != nil }

// isWrite tells whether a packet asks for a transaction.
func isWrite(payload []byte) bool {
	var h wire.RequestHeader
	d := wire.NewDecoder(payload)
	h.Decode(&d)
	switch h.Op {
	case wire.OpCreate, wire.OpCreate2, wire.OpCreateContainer, wire.OpCreateTTL, wire.OpDelete,
		wire.OpDeleteContainer, wire.OpSetData, wire.OpSetACL, wire.OpCheck, wire.OpMulti,
		wire.OpReconfig, wire.OpCloseSession:
		return d.Err() == nil
	}
	return false
}
