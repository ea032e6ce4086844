package native

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"slices"
	"time"

	"github.com/stampede-bench/stampede/drivers/native/tree"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// A session is what the server knows of an open session besides what the tree
// keeps: who speaks for it, and until when it lives.
type session struct {
	id      int64
	timeout time.Duration
	conn    *conn // nil while disconnected
	expires int64 // the tick that ends it, unless it is heard of before
}

// firstSessionID makes ids differ from those of servers started at other
// milliseconds, in the way of ZooKeeper's.
// They are never negative.
func firstSessionID(now time.Time) int64 { return int64(uint64(now.UnixMilli()) << 24 >> 8) }

// clamp returns the time-out granted where ms milliseconds are asked for.
func (s *Server) clamp(ms int32) time.Duration {
	return min(max(time.Duration(ms)*time.Millisecond, s.timeouts[0]), s.timeouts[1])
}

// openSession makes a session for c and returns its password.
func (s *Server) openSession(c *conn, timeout time.Duration) []byte {
	s.lastID++
	x := tree.Txn{Session: s.lastID, Time: time.Now().UnixMilli(), Op: tree.Op{Kind: tree.OpenSession}}
	x.Timeout = int32(timeout.Milliseconds())
	rand.Read(x.Password[:])
	s.apply(x)
	s.stats.writes++
	s.sessions[s.lastID] = &session{id: s.lastID}
	s.attach(c, s.sessions[s.lastID], timeout)
	return x.Password[:]
}

// resumeSession gives c the session that has the id and the password. It reports
// false if there is none. The connection that had the session is cut off before
// the password is looked at, as ZooKeeper does it.
func (s *Server) resumeSession(c *conn, id int64, password []byte, timeout time.Duration) bool {
	known, ok := s.tree.Session(id)
	if !ok {
		return false
	}
	session := s.sessions[id]
	if session.conn != nil {
		session.conn.drop()
	}
	if !bytes.Equal(known.Password[:], password) {
		return false
	}
	s.attach(c, session, timeout)
	return true
}

func (s *Server) attach(c *conn, session *session, timeout time.Duration) {
	session.conn, session.timeout, c.session = c, timeout, session
	c.watcher.Session = session.id
	s.heardOf(session)
}

// heardOf puts off the end of a session. Time-outs end on the tick after.
func (s *Server) heardOf(session *session) {
	session.expires = int64((time.Since(s.start)+session.timeout)/s.tick) + 1
}

// closeSession ends a session and with it its ephemeral nodes.
func (s *Server) closeSession(id int64) tree.Result {
	delete(s.sessions, id)
	return s.apply(tree.Txn{Session: id, Time: time.Now().UnixMilli(), Op: tree.Op{Kind: tree.CloseSession}})
}

// expire ends the sessions that were not heard of until the tick. Others have the
// lock between two of them.
func (s *Server) expire(tick int64) {
	for _, session := range s.overdue(tick) {
		s.end(session, tick)
	}
}

func (s *Server) overdue(tick int64) (all []*session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, session := range s.sessions {
		if session.expires <= tick {
			all = append(all, session)
		}
	}
	slices.SortFunc(all, func(a, b *session) int { return cmp.Compare(a.id, b.id) })
	return all
}

// end ends a session unless it was heard of, or closed, meanwhile. A session whose
// requests wait for the server's own disk lives on.
func (s *Server) end(session *session, tick int64) {
	s.mu.Lock()
	defer s.unlock()
	if s.sessions[session.id] != session || session.expires > tick || session.conn != nil && session.conn.waits {
		return
	}
	if session.conn != nil {
		session.conn.drop()
	}
	s.closeSession(session.id)
}

// answerConnect serves the packet that opens a connection and reports whether
// the connection may go on.
func (c *conn) answerConnect(payload []byte) bool {
	var r wire.ConnectRequest
	d := wire.NewDecoder(payload)
	r.Decode(&d)
	s := c.server
	if r.SessionID == 0 {
		c.lockForWrite()
	} else {
		s.mu.Lock()
	}
	defer s.unlock()
	s.stats.received++
	// A client that has seen more than this server ever did must not be
	// shown the past.
	if c.dropped || d.Err() != nil || r.LastZxid > s.tree.Zxid() {
		return false
	}
	if r.SessionID == 0 && s.maxSessions > 0 && len(s.sessions) >= s.maxSessions {
		return false // as ZooKeeper hangs up on connections beyond its maxCnxns
	}
	answer := wire.ConnectResponse{Password: r.Password, ReadOnly: wire.ReadOnly{Present: r.ReadOnly.Present}}
	timeout := s.clamp(r.Timeout)
	if r.SessionID == 0 {
		answer.Password = s.openSession(c, timeout)
	} else if !s.resumeSession(c, r.SessionID, r.Password, timeout) {
		answer.Password = make([]byte, wire.PasswordSize)
	}
	if c.session != nil {
		answer.SessionID, answer.Timeout = c.session.id, int32(timeout.Milliseconds())
	}
	c.queue(answer)
	return c.session != nil
}
