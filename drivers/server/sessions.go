package server

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"slices"
	"time"

	"github.com/stampede-bench/stampede/drivers/server/tree"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// A session holds what the server keeps about an open session besides the tree: its connection and
// its expiry.
type session struct {
	id      int64
	timeout time.Duration
	conn    *conn // nil while disconnected
	expires int64 // the tick at which it expires, unless a request arrives before
}

// firstSessionID derives session IDs from the time, as ZooKeeper does, so that servers started at
// different milliseconds use different IDs. The IDs are never negative.
func firstSessionID(now time.Time) int64 { return int64(uint64(now.UnixMilli()) << 24 >> 8) }

// clamp returns the granted timeout for a request of ms milliseconds.
func (s *Server) clamp(ms int32) time.Duration {
	return min(max(time.Duration(ms)*time.Millisecond, s.timeouts[0]), s.timeouts[1])
}

// openSession creates a session for c and returns its password.
func (s *Server) openSession(c *conn, timeout time.Duration) []byte {
	s.lastID++
	x := tree.Txn{Session: s.lastID, Time: time.Now().UnixMilli(), Op: tree.Op{Kind: tree.OpenSession}}
	x.Timeout = int32(timeout.Milliseconds())
	rand.Read(x.Password[:])
	s.apply(x)
	s.stats.Writes++
	s.sessions[s.lastID] = &session{id: s.lastID}
	s.attach(c, s.sessions[s.lastID], timeout)
	return x.Password[:]
}

// resumeSession attaches c to the session with the ID and the password. It reports false if there
// is none. Like ZooKeeper, it drops the session's previous connection before it checks the
// password.
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

// heardOf extends a session. Sessions expire on the first tick after their timeout.
func (s *Server) heardOf(session *session) {
	if s.ensemble != nil {
		s.ensemble.member.Touch(session.id)
		return
	}
	session.expires = int64((time.Since(s.start)+session.timeout)/s.tick) + 1
}

// closeSession closes a session and deletes its ephemeral nodes.
func (s *Server) closeSession(id int64) tree.Result {
	delete(s.sessions, id)
	return s.apply(tree.Txn{Session: id, Time: time.Now().UnixMilli(), Op: tree.Op{Kind: tree.CloseSession}})
}

// expire closes the sessions that are due at the tick. It releases the lock between sessions.
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

// end closes an expired session, unless it was renewed or closed in the meantime. It keeps a
// session whose requests wait for the server's own disk.
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

// answerConnect serves the packet that opens a connection and reports whether the connection may
// continue.
func (c *conn) answerConnect(payload []byte) bool {
	var r wire.ConnectRequest
	d := wire.NewDecoder(payload)
	r.Decode(&d)
	s := c.server
	if s.ensemble != nil {
		return d.Err() == nil && c.join(&r)
	}
	if r.SessionID == 0 {
		c.lockForWrite()
	} else {
		s.mu.Lock()
	}
	defer s.unlock()
	s.stats.Received++
	// A client that has seen a later zxid than this server's must not see older state.
	if c.dropped || d.Err() != nil || r.LastZxid > s.tree.Zxid() {
		return false
	}
	if r.SessionID == 0 && s.maxSessions > 0 && len(s.sessions) >= s.maxSessions {
		return false // as ZooKeeper does with connections beyond its maxCnxns
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
