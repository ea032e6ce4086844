package server

import "github.com/stampede-bench/stampede/drivers/wire"

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
