package client

import (
	"time"

	"github.com/stampede-bench/stampede/drivers/traffic"
)

// A kind says what tells a session apart.
type kind uint8

const (
	plain    kind = iota // its connection
	numbered             // the number that the service gave it
	leased               // its leases
)

// A Session is what counts as one client. Two that turn out to be of one client become one.
type Session struct {
	into   *Session // the one that this is a part of, nil if there is none
	origin *Origin
	kind   kind
	slot   *slot // of a plain one of a process
	from   time.Time
	to     time.Time // zero while it lasts
	open   int       // connections
	leases int       // that were granted and not revoked
	kept   int       // those of them that were kept alive
	lone   bool      // its connection carries nothing but a watch: what the client does comes by others
	told   int64     // notifications of a lone one
	early  bool      // it was notified before the others were known
}

// root returns the session of which this is a part, or itself.
func (s *Session) root() *Session {
	for s.into != nil {
		if s.into.into != nil {
			s.into = s.into.into
		}
		s = s.into
	}
	return s
}

// Unit returns what to count the session as: two parts of one client have the same unit.
func (s *Session) Unit() *Session {
	r := s.root()
	if o := r.origin; r.kind == plain && o.only != nil {
		return o.only
	}
	return r
}

// Key returns what is the same for all sessions that are of one client by what is known now: a process if one of
// its connections carries nothing but a watch, so that another one does what the client does, and nothing
// says that it has several clients. Unlike Unit it is not undone.
func (s *Session) Key() any {
	r := s.root()
	if o := r.origin; o.alone != nil && o.may() {
		return o
	}
	return r
}

// WatchAlone records that the connection carries nothing but a watch from now on, of what others watch. Two that
// do so at the same time are of different clients.
func (s *Session) WatchAlone(others Set) {
	s.lone = true
	o := s.root().origin
	o.alone = s
	for other := range others {
		r := other.root()
		o.apart = o.apart || o.Process != nil && r.origin == o && r != s.root() && other.to.IsZero()
	}
}

// Told records a notification, and reports whether it is one of a connection that carries nothing else.
func (s *Session) Told() bool {
	if s.lone {
		_, known := s.Key().(*Origin)
		s.told, s.early = s.told+1, s.early || !known
	}
	return s.lone
}

// Reacts reports whether it is known by which connections the client acts. Call it between [Table.Resolve] and
// [Table.Forget].
func (s *Session) Reacts() bool {
	o := s.root().origin
	return !s.lone || o.only != nil && !o.loose && !s.early
}

// Origin returns the process or the address of the session.
func (s *Session) Origin() *Origin { return s.root().origin }

// End records the end of the session, Resume that it goes on after all.
func (s *Session) End(at time.Time) { s.to = at }

// Resume records that the session goes on.
func (s *Session) Resume() { s.to = time.Time{} }

// Active reports whether the client has another open connection.
func (s *Session) Active() bool { return s.root().open > 0 }

// Leased reports whether the client has leases that were not revoked.
func (s *Session) Leased() bool { return s.root().leases > 0 }

// Lapse reports whether the client has lost its leases: it has no connection, and has not revoked a lease that
// it had kept alive. A lease that it never kept alive was left to expire. It has no leases from then on.
func (s *Session) Lapse() bool {
	r := s.root()
	if r.open > 0 || r.leases == 0 {
		return false
	}
	lost := r.kept > 0
	r.leases, r.kept = 0, 0
	return lost
}

// enter counts the session at its origin.
func (s *Session) enter() {
	o := s.origin
	if s.lone {
		o.alone = s
	}
	switch {
	case s.kind == numbered:
		o.sessions.Numbered++
	case s.kind == leased:
		o.sessions.Leased++
		o.leased = s
	case o.Process == nil:
		o.sessions.Connections++
	case len(o.free) > 0 && !o.free[0].until.After(s.from):
		s.slot, o.free = o.free[0], o.free[1:]
	default:
		s.slot = new(slot)
		o.slots++
	}
}

// leave undoes enter.
func (s *Session) leave() {
	o := s.origin
	switch {
	case s.kind == numbered:
		o.sessions.Numbered--
	case s.kind == leased:
		o.sessions.Leased--
	case o.Process == nil:
		o.sessions.Connections--
	case s.slot == nil: // it has ended
	case s.slot.until.IsZero(): // no other one was in its place
		s.slot = nil
		o.slots--
	default:
		s.slot, o.free = nil, append([]*slot{s.slot}, o.free...)
	}
}

// ended records the end of a plain session of a process: another one may follow it.
func (s *Session) ended(at time.Time) {
	if k := s.slot; k != nil {
		k.until = at
		s.origin.free = append(s.origin.free, k)
		s.slot = nil
	}
}

// A Connection is one connection of a client.
type Connection struct {
	table                   *Table
	origin                  *Origin
	session                 *Session // nil until it is known
	lease                   int64    // that it has used last
	from, to                time.Time
	closed                  bool
	requests, notifications int64
}

// Begin begins a session, with a number or without, which the connection serves from now on.
func (c *Connection) Begin(hasNumber bool) *Session {
	s := &Session{origin: c.origin, from: c.from}
	if hasNumber {
		s.kind = numbered
	}
	s.enter()
	c.Serve(s)
	return s
}

// Serve says which session the connection serves from now on.
func (c *Connection) Serve(s *Session) {
	if c.session != nil {
		c.session.root().open--
	}
	c.session = s
	s.root().open++
}

// Requested counts a request.
func (c *Connection) Requested() {
	c.requests++
	c.origin.Requests++
}

// Notified counts a notification.
func (c *Connection) Notified() {
	c.notifications++
	c.origin.Notifications++
}

// Owner says which process has the connection. It may be called after Close.
func (c *Connection) Owner(p traffic.Process) {
	if p == (traffic.Process{}) {
		return
	}
	to := c.table.origin(p, c.origin.Address)
	if to == c.origin {
		return
	}
	to.late = to.late || c.requests > 0
	c.origin.add(-1, -c.requests, -c.notifications)
	to.add(1, c.requests, c.notifications)
	c.origin = to
	if c.session == nil {
		return
	}
	if s := c.session.root(); s.origin.Process == nil {
		s.move(to)
		if c.closed && s.kind == plain {
			s.ended(c.to)
		}
	}
}

func (o *Origin) add(connections, requests, notifications int64) {
	o.Connections += connections
	o.Requests += requests
	o.Notifications += notifications
}

// move counts the session at another origin.
func (s *Session) move(to *Origin) {
	s.leave()
	s.origin = to
	s.enter()
}

// Close ends the connection.
func (c *Connection) Close(at time.Time) {
	c.closed, c.to = true, at
	if c.session == nil {
		return
	}
	s := c.session.root()
	s.open--
	if s.kind == plain {
		s.ended(at)
	}
}

// A lease is one that a connection has used.
type lease struct {
	of      *Session
	granted time.Time // zero if that was not seen
	kept    bool      // alive by its client
	timeout time.Duration
}

// Lease says that the connection uses a lease as the client's own. All connections that do are one session.
func (c *Connection) Lease(id int64) {
	if c.lease == id && c.table.leases[id] != nil || c.session == nil {
		return
	}
	c.lease = id
	s := c.session.root()
	if s.kind == plain {
		s.leave()
		s.kind = leased
		s.enter()
	}
	if known := c.table.leases[id]; known != nil {
		known.of.root().join(s)
		return
	}
	c.table.follow(id, &lease{of: s})
}

// Granted says that the connection was granted a lease.
func (c *Connection) Granted(id int64, at time.Time, timeout time.Duration) {
	c.Lease(id)
	if l := c.table.leases[id]; l != nil && l.granted.IsZero() {
		l.granted, l.timeout = at, timeout
		l.of.root().leases++
		if l.kept {
			l.of.root().kept++
		}
	}
}

// Kept says that the connection asked to keep the lease alive.
func (c *Connection) Kept(id int64) {
	l := c.table.leases[id]
	if l == nil || l.kept {
		return
	}
	if l.kept = true; !l.granted.IsZero() {
		l.of.root().kept++
	}
}

// Revoked says that a lease was revoked. It returns how long it had lasted and its time-out, and false if its
// grant was not seen.
func (c *Connection) Revoked(id int64, at time.Time) (lasted, timeout time.Duration, known bool) {
	l := c.table.leases[id]
	if l == nil {
		return 0, 0, false
	}
	delete(c.table.leases, id)
	if l.granted.IsZero() {
		return 0, 0, false
	}
	s := l.of.root()
	s.leases = max(s.leases-1, 0) // it may have lapsed
	if l.kept {
		s.kept = max(s.kept-1, 0)
	}
	return at.Sub(l.granted), l.timeout, true
}

// follow remembers a lease, and forgets the oldest if there are too many.
func (t *Table) follow(id int64, l *lease) {
	for len(t.order) >= 2*t.limit || len(t.leases) >= t.limit {
		delete(t.leases, t.order[0])
		t.order = t.order[1:]
	}
	t.leases[id] = l
	t.order = append(t.order, id)
}

// join makes another session a part of this one.
func (s *Session) join(o *Session) {
	if s == o {
		return
	}
	o.leave()
	o.into = s
	s.open, s.leases, s.kept = s.open+o.open, s.leases+o.leases, s.kept+o.kept
	if s.origin.Process == nil && o.origin.Process != nil {
		s.move(o.origin)
	}
}
