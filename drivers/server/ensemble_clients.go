package server

import (
	"bytes"
	"crypto/rand"
	"time"

	"github.com/stampede-bench/stampede/drivers/server/replica"
	"github.com/stampede-bench/stampede/drivers/server/tree"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// Apply implements replica.Handler: it fires the events of a transaction and follows the sessions.
func (e *ensemble) Apply(a *replica.Applied) {
	s := e.server
	s.fire(a.Events, a.Result.Zxid)
	owner, open := e.member.State().Owner(a.Session)
	known := s.sessions[a.Session]
	switch {
	case !open && known != nil:
		delete(s.sessions, a.Session)
		if c := known.conn; c != nil && !c.closing { // a client that asked for it is answered
			c.drop()
		}
	case a.Result.Err != wire.OK:
	case a.Kind == replica.Open:
		s.sessions[a.Session] = &session{id: a.Session, timeout: timeoutOf(owner)}
	case a.Kind == replica.Move:
		known.timeout = timeoutOf(owner)
		if known.conn != nil {
			known.conn.drop()
		}
	}
}

func timeoutOf(o replica.Owner) time.Duration { return time.Duration(o.Timeout) * time.Millisecond }

// Suspend implements replica.Handler.
func (e *ensemble) Suspend() {
	for c := range e.server.conns {
		if c.line != nil {
			c.drop()
		}
	}
	e.adopt()
}

// join asks the ensemble for a session and waits for its answer. It reports whether the connection
// has one.
func (c *conn) join(r *wire.ConnectRequest) bool {
	c.lockForWrite()
	s := c.server
	s.stats.Received++
	member := s.ensemble.member
	switch {
	// A client that has seen a later zxid than this member's must not see older state.
	case c.dropped, !s.ensemble.serving(), r.LastZxid > s.tree.Zxid(),
		r.SessionID == 0 && s.maxSessions > 0 && len(s.sessions) >= s.maxSessions:
		s.unlock()
		return false
	}
	c.line, c.established = member.NewLine(), make(chan struct{})
	timeout := s.clamp(r.Timeout)
	x := tree.Txn{Session: r.SessionID, Opening: tree.Opening{Timeout: int32(timeout.Milliseconds())}}
	if r.SessionID == 0 {
		s.lastID++
		s.stats.Writes++
		x.Session = s.lastID
		rand.Read(x.Password[:])
		c.line.Open(x, func(a *replica.Applied) { c.joined(r, &x, a) })
	} else {
		copy(x.Password[:], r.Password)
		c.line.Move(x, func(a *replica.Applied) { c.joined(r, &x, a) })
	}
	s.unlock()
	c.awaitSession()
	s.mu.Lock()
	defer s.unlock()
	return c.session != nil
}

// awaitSession waits for the ensemble's answer, as long as the handshake may take.
func (c *conn) awaitSession() {
	timer := time.NewTimer(handshakeTime)
	defer timer.Stop()
	select {
	case <-c.established:
	case <-timer.C:
	case <-c.server.done:
	}
}

// joined answers a client that asked for a session.
func (c *conn) joined(r *wire.ConnectRequest, x *tree.Txn, a *replica.Applied) {
	defer close(c.established)
	if a == nil || c.dropped {
		c.line.Close()
		return
	}
	answer := wire.ConnectResponse{Password: make([]byte, wire.PasswordSize), ReadOnly: wire.ReadOnly{Present: r.ReadOnly.Present}}
	if session := c.server.sessions[a.Session]; a.Result.Err == wire.OK && session != nil {
		c.server.attach(c, session, timeoutOf(a.Owner))
		answer.SessionID, answer.Timeout, answer.Password = a.Session, a.Owner.Timeout, bytes.Clone(x.Password[:])
	}
	c.queue(answer)
}

// leaveLine gives up the answers of a connection in an ensemble.
func (c *conn) leaveLine() {
	if c.line == nil {
		return
	}
	c.line.Close()
	c.last = true
	select {
	case <-c.established:
	default:
		close(c.established)
	}
}

// mustWait reports whether a request has to wait for earlier ones of its connection, or until the member knows
// that the session lives. Writes wait in the log, and credentials hold at once, as in ZooKeeper.
func (c *conn) mustWait(op int32) bool {
	return c.line != nil && !c.line.Ready() && !isWriteOp(op) && op != wire.OpAuth && op != wire.OpSync
}

// inOrder calls answer when the earlier requests of the connection are answered.
func (c *conn) inOrder(answer func()) {
	if c.line == nil {
		answer()
		return
	}
	c.line.Read(answer)
}

// The limits of what waits for the ensemble.
const (
	maxProposed      = 10_000 // transactions of all clients of a member
	maxProposedBytes = 32 << 20
	maxLine          = 1000 // requests of one connection
)

// noRoom returns nil if the member can take a request of c. Otherwise it returns a channel that is
// closed when the caller should check again.
func (e *ensemble) noRoom(c *conn) <-chan struct{} {
	if e.roomy() && (c.line == nil || c.line.Len() < maxLine) {
		return nil
	}
	e.waiters = true
	return e.progress
}

func (e *ensemble) roomy() bool {
	count, bytes := e.member.Pending()
	return count < maxProposed && bytes < maxProposedBytes
}
