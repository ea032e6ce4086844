package fanout

import (
	"errors"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/metrics/delivery"
)

// A ledger finds the write that caused each notification. That is the first write that changes
// what the notification's watch covers and whose position is greater than that of the reply
// that armed the watch. Where the notification carries a position, it is the write at that
// position. For a persistent watch it is the first write after the one that the watch reported
// last.
//
// A writer's reply carries the write's position. The Meter may see it after a notification of
// that write on another connection. So a notification waits until every write that was in
// flight when it came has been answered or cut off, and is assigned then. If no known write can
// be the cause, the notification belongs to a foreign trigger: see foreignTrigger.
//
// The memory that a ledger uses does not grow with the length of a run: see prune.
//
// Meter.mu guards all of it.
type ledger struct {
	nodes      map[string]*node
	sessions   map[*sessionState]struct{} // of the sessions that have not ended
	armed      int64                      // watches armed and not fired
	persistent int                        // number of persistent watches
	inFlight   inFlight
	waiting    []*notification  // notifications, in the order in which they came
	writes     map[int64]*write // by position
	order      []*write         // the same, in the order in which they became known
	foreign    map[changeKey][]*foreignTrigger
	highest    int64 // highest position of a write
	pruned     int64 // see prune
	batch      int   // length of order at which to prune again
	window     *metrics.Window
	totals     totals
	follower   *follower         // nil unless a write is followed
	timeline   *timeline         // nil if there is a listener
	listener   Listener          // nil except for an observer
	delivery   *delivery.Checker // nil: it is not checked
	joined     int64             // number of sessions so far
	foreigners int64             // number of foreign triggers so far
	open       int               // notifications since the latest reply of their sessions
	bounds     bounds
}

// smallestBatch is the smallest number of new writes after which prune runs again.
const smallestBatch = 256

func newLedger(w *metrics.Window, now func() time.Time) ledger {
	return ledger{
		window:   w,
		nodes:    map[string]*node{},
		sessions: map[*sessionState]struct{}{},
		writes:   map[int64]*write{},
		foreign:  map[changeKey][]*foreignTrigger{},
		batch:    smallestBatch,
		totals:   newTotals(),
		timeline: newTimeline(now, metrics.DefaultBin),
	}
}

// node returns the node of path, and creates it if it is new.
func (l *ledger) node(path []byte) *node {
	n := l.nodes[string(path)]
	if n == nil {
		n = newNode(string(path))
		l.nodes[n.path] = n
	}
	return n
}

func (l *ledger) join(s *sessionState) {
	l.joined++
	s.number = l.joined
	l.sessions[s] = struct{}{}
}

// recordRequest records that the session sends a write, opens a connection or closes.
func (l *ledger) recordRequest(s *sessionState, op drivers.Op) {
	if op == drivers.OpOpen {
		l.opening(s)
		return
	}
	l.boundWrites()
	s.closing = op == drivers.OpClose
	s.writes = append(s.writes, l.inFlight.send())
}

// opening records that the session has a new connection, or that a new session replaces one
// that ended.
func (l *ledger) opening(s *sessionState) {
	l.abandonWrites(s) // the requests of an earlier connection get no more replies
	s.connected, s.closing, s.rearming = true, false, len(s.armed) > 0
	l.join(s)
}

// abandonWrites ends the wait for replies to the session's writes in flight.
func (l *ledger) abandonWrites(s *sessionState) {
	for _, n := range s.writes {
		l.inFlight.complete(n)
	}
	s.writes = s.writes[:0]
	l.resolve()
}

// cut records that the connection broke. Watches stay armed: the client library sets them
// again.
func (l *ledger) cut(s *sessionState) {
	l.abandonWrites(s)
	s.connected, s.rearming = false, len(s.armed) > 0
	if s.closing {
		l.leave(s)
	}
}

// answered enters a reply and returns the table in which it armed a watch.
func (l *ledger) answered(s *sessionState, m *drivers.Message) (armed *table) {
	if m.Pos > 0 {
		l.bound(s, m.Pos)
		s.reached(m.Pos)
	}
	switch {
	case m.Op.IsWrite() || m.Op == drivers.OpClose:
		l.wrote(s, m)
	case m.Op == drivers.OpRearm:
		s.rearming = false
	case m.Op == drivers.OpOpen && m.Err != nil:
		l.leave(s)
	case m.Op.IsWatch() && m.Err == nil:
		l.addPersistent(s, m)
	case arms(m):
		return l.arm(s, m)
	}
	return nil
}

// arms reports whether the reply armed a watch. exists arms one on a missing node too. A client
// library may request a watch by itself (drivers.OpOther).
func arms(m *drivers.Message) bool {
	return m.Watch && (m.Op.IsRead() || m.Op == drivers.OpOther) &&
		(m.Err == nil || m.Op == drivers.OpExists && errors.Is(m.Err, drivers.ErrNoNode))
}

func (l *ledger) wrote(s *sessionState, m *drivers.Message) {
	if m.Err == nil && m.Pos > 0 {
		l.apply(s, m)
	}
	if len(s.writes) > 0 {
		l.inFlight.complete(s.writes[0])
		s.writes = s.writes[1:]
	}
	switch {
	case m.Op == drivers.OpClose && s.closing:
		l.leave(s)
	case m.Op == drivers.OpClose: // a part of what the session has: a lease of etcd
		l.releaseEphemerals(s)
	}
	l.resolve()
	if len(l.order) >= l.batch {
		l.prune()
	}
}

// leave records that the session and its watches have ended.
func (l *ledger) leave(s *sessionState) {
	l.bound(s, unbounded)
	for t := range s.armed {
		l.disarm(s, t)
		l.trim(t)
	}
	l.removePersistent(s)
	for path, created := range s.ephemerals {
		l.delivery.Vanished([]byte(path), created, s.last.Load())
	}
	l.releaseEphemerals(s)
	delete(l.sessions, s)
}

// arm enters a watch. Arming the same watch again keeps one watch, as on the server.
func (l *ledger) arm(s *sessionState, m *drivers.Message) *table {
	which := data
	if m.Op == drivers.OpChildren || m.Event == drivers.ChildrenChanged {
		which = children
	}
	t := l.node(m.Path).tables[which]
	if t.armed == nil {
		t.armed = map[*sessionState]int64{}
	}
	pos, again := t.armed[s]
	if !again {
		l.armed++
	}
	t.armed[s] = max(pos, m.Pos)
	s.armed[t] = struct{}{}
	return t
}

// disarm removes a watch and returns the position at which it was armed.
func (l *ledger) disarm(s *sessionState, t *table) (pos int64, ok bool) {
	pos, ok = t.armed[s]
	if ok {
		delete(t.armed, s)
		delete(s.armed, t)
		l.armed--
	}
	return pos, ok
}

// notified enters a notification that arrived at the given time, and disarms the watches that
// it fired. A delete fires the data watch and the child watch of a session with one packet. Sound says that nothing is
// known to be wrong with the notification.
func (l *ledger) notified(s *sessionState, m *drivers.Message, at time.Time, sound bool) {
	node := l.node(m.Path)
	n := &notification{
		state: s, nth: s.session.notified.Load(), path: node.path, event: m.Event, pos: m.Pos,
		at: at, due: l.inFlight.next(), rearmed: s.rearming, sound: sound,
	}
	for _, t := range node.covers(m.Event) {
		if pos, ok := l.disarm(s, t); ok {
			n.armed, n.after = t, max(n.after, pos)
		}
	}
	l.mark(n)
	if !n.rearmed {
		n.since = s.last.Load()
	}
	n.surely = max(n.after, n.since)
	first := node.covers(m.Event)[0]
	n.persistent = s.persistentOn(first)
	switch {
	case len(n.persistent) > 0:
		n.armed, n.after = first, max(n.after, n.since)
	case n.armed == nil: // the Meter did not see the arming
		n.armed, n.after = first, s.last.Load()
	}
	n.armed.fired = append(n.armed.fired, n)
	s.open = append(s.open, n)
	l.open++
	s.hasOpen.Store(true)
	l.waiting = append(l.waiting, n)
	l.resolve()
	l.boundNotifications()
}
