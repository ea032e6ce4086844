package metrics

import (
	"errors"
	"time"

	"github.com/stampede-bench/stampede/drivers"
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
// be the cause, the notification belongs to a foreign trigger: see foreign.
//
// The memory that a ledger uses does not grow with the length of a run: see settle.
//
// Meter.mu guards all of it.
type ledger struct {
	nodes    map[string]*node
	accounts map[*account]struct{} // of the sessions that have not ended
	armed    int64                 // watches armed and not fired
	lasting  int                   // number of persistent watches
	flight   flight
	waiting  []*note          // notifications, in the order in which they came
	writes   map[int64]*write // by position
	order    []*write         // the same, in the order in which they became known
	strays   map[change][]*foreign
	highest  int64 // highest position of a write
	settled  int64 // see settle
	batch    int   // length of order at which to settle again
	window   window
	tally    tally
	follower *follower // nil unless a write is followed
	line     *timeline
}

// smallestBatch is the smallest number of new writes after which settle runs again.
const smallestBatch = 256

func newLedger() ledger {
	return ledger{
		nodes:    map[string]*node{},
		accounts: map[*account]struct{}{},
		writes:   map[int64]*write{},
		strays:   map[change][]*foreign{},
		batch:    smallestBatch,
		tally:    newTally(),
		line:     newTimeline(DefaultBin),
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

func (l *ledger) join(a *account) { l.accounts[a] = struct{}{} }

// asked records that the session sends a write, opens a connection or closes.
func (l *ledger) asked(a *account, op drivers.Op) {
	if op == drivers.OpOpen {
		l.opening(a)
		return
	}
	a.closing = op == drivers.OpClose
	a.writes = append(a.writes, l.flight.send())
}

// opening records that the session has a new connection, or that a new session replaces one
// that ended.
func (l *ledger) opening(a *account) {
	l.ground(a) // the requests of an earlier connection get no more replies
	a.connected, a.closing, a.rearming = true, false, len(a.armed) > 0
	l.join(a)
}

// ground ends the wait for replies to the session's writes in flight.
func (l *ledger) ground(a *account) {
	for _, n := range a.writes {
		l.flight.land(n)
	}
	a.writes = a.writes[:0]
	l.resolve()
}

// cut records that the connection broke. Watches stay armed: the client library sets them
// again.
func (l *ledger) cut(a *account) {
	l.ground(a)
	a.connected, a.rearming = false, len(a.armed) > 0
	if a.closing {
		l.leave(a)
	}
}

// answered enters a reply and returns the table in which it armed a watch.
func (l *ledger) answered(a *account, m *drivers.Message) (armed *table) {
	if m.Pos > 0 {
		l.bound(a, m.Pos)
		a.reached(m.Pos)
	}
	switch {
	case m.Op.IsWrite() || m.Op == drivers.OpClose:
		l.wrote(a, m)
	case m.Op == drivers.OpRearm:
		a.rearming = false
	case m.Op == drivers.OpOpen && m.Err != nil:
		l.leave(a)
	case m.Op.IsWatch() && m.Err == nil:
		l.keep(a, m)
	case arms(m):
		return l.arm(a, m)
	}
	return nil
}

// arms reports whether the reply armed a watch. exists arms one on a missing node too. A client
// library may request a watch by itself (drivers.OpOther).
func arms(m *drivers.Message) bool {
	return m.Watch && (m.Op.IsRead() || m.Op == drivers.OpOther) &&
		(m.Err == nil || m.Op == drivers.OpExists && errors.Is(m.Err, drivers.ErrNoNode))
}

func (l *ledger) wrote(a *account, m *drivers.Message) {
	if m.Err == nil && m.Pos > 0 {
		l.apply(a, m)
	}
	if len(a.writes) > 0 {
		l.flight.land(a.writes[0])
		a.writes = a.writes[1:]
	}
	if m.Op == drivers.OpClose {
		l.leave(a)
	}
	l.resolve()
	if len(l.order) >= l.batch {
		l.settle()
	}
}

// leave records that the session and its watches have ended.
func (l *ledger) leave(a *account) {
	l.bound(a, unbounded)
	for t := range a.armed {
		l.disarm(a, t)
		l.trim(t)
	}
	l.drop(a)
	l.disown(a)
	delete(l.accounts, a)
}

// arm enters a watch. Arming the same watch again keeps one watch, as on the server.
func (l *ledger) arm(a *account, m *drivers.Message) *table {
	which := data
	if m.Op == drivers.OpChildren || m.Event == drivers.ChildrenChanged {
		which = children
	}
	t := l.node(m.Path).tables[which]
	if t.armed == nil {
		t.armed = map[*account]int64{}
	}
	pos, again := t.armed[a]
	if !again {
		l.armed++
	}
	t.armed[a] = max(pos, m.Pos)
	a.armed[t] = struct{}{}
	return t
}

// disarm removes a watch and returns the position at which it was armed.
func (l *ledger) disarm(a *account, t *table) (pos int64, ok bool) {
	pos, ok = t.armed[a]
	if ok {
		delete(t.armed, a)
		delete(a.armed, t)
		l.armed--
	}
	return pos, ok
}

// notified enters a notification that arrived at the given time, and disarms the watches that
// it fired. A delete fires the data watch and the child watch of a session with one packet.
func (l *ledger) notified(a *account, m *drivers.Message, at time.Time) {
	node := l.node(m.Path)
	n := &note{
		account: a, path: node.path, event: m.Event, pos: m.Pos,
		at: at, due: l.flight.next(), rearmed: a.rearming,
	}
	for _, t := range node.covers(m.Event) {
		if pos, ok := l.disarm(a, t); ok {
			n.armed, n.after = t, max(n.after, pos)
		}
	}
	l.mark(n)
	if !n.rearmed {
		n.since = a.last.Load()
	}
	first := node.covers(m.Event)[0]
	n.lasting = a.tells(first)
	switch {
	case len(n.lasting) > 0:
		n.armed, n.after = first, max(n.after, n.since)
	case n.armed == nil: // the Meter did not see the arming
		n.armed, n.after = first, a.last.Load()
	}
	n.armed.fired = append(n.armed.fired, n)
	a.open = append(a.open, n)
	a.unsure.Store(true)
	l.waiting = append(l.waiting, n)
	l.resolve()
}
