package metrics

import (
	"errors"
	"time"

	"github.com/stampede-bench/stampede/drivers"
)

// A ledger settles which write each notification belongs to: the first that
// touches what the notification's watch covers and whose position is greater
// than that of the reply that armed it; or, where the notification carries a
// position, the write at that position. Of a persistent watch it is the first
// after the one that was told before.
//
// A writer's reply, which tells the position, may be seen after a notification
// of that write on another connection. So a notification waits until every write
// that was in flight when it came has been answered or cut off, and is settled
// then. If there is still no write that it can belong to, somebody else made the
// change: see foreign.
//
// What is kept does not grow with the length of a run: see settle.
//
// All of it is guarded by Meter.mu.
type ledger struct {
	nodes    map[string]*node
	accounts map[*account]struct{} // of the sessions that have not ended
	armed    int64                 // watches armed and not fired
	lasting  int                   // persistent ones
	flight   flight
	waiting  []*note          // notifications, in the order in which they came
	writes   map[int64]*write // by position
	order    []*write         // the same, in the order in which they became known
	strays   map[change][]*foreign
	highest  int64 // position of a write
	settled  int64 // see settle
	batch    int   // length of order at which to settle again
	window   window
	tally    tally
	follower *follower // nil unless somebody follows
	line     *timeline
}

// smallestBatch is how many writes are settled at once, at least.
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

// node returns what is known of path, which may be nothing yet.
func (l *ledger) node(path []byte) *node {
	n := l.nodes[string(path)]
	if n == nil {
		n = newNode(string(path))
		l.nodes[n.path] = n
	}
	return n
}

func (l *ledger) join(a *account) { l.accounts[a] = struct{}{} }

// asked says that the session sends a write, opens a connection or closes.
func (l *ledger) asked(a *account, op drivers.Op) {
	if op == drivers.OpOpen {
		l.opening(a)
		return
	}
	a.closing = op == drivers.OpClose
	a.writes = append(a.writes, l.flight.send())
}

// opening says that the session has a new connection, or a new session takes
// the place of one that ended.
func (l *ledger) opening(a *account) {
	l.ground(a) // what an earlier connection carried is over
	a.connected, a.closing, a.rearming = true, false, len(a.armed) > 0
	l.join(a)
}

// ground gives up the session's writes in flight.
func (l *ledger) ground(a *account) {
	for _, n := range a.writes {
		l.flight.land(n)
	}
	a.writes = a.writes[:0]
	l.resolve()
}

// cut says that the connection broke. Armed watches stay: the client library
// sets them again.
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

// arms tells whether the reply armed a watch: exists does so on a missing node
// too. A library may ask for a watch by itself (drivers.OpOther).
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

// leave says that the session has ended, and its watches with it.
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

// arm enters a watch. Arming what is armed is one watch, as on the server.
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

// disarm removes a watch and tells where it was armed.
func (l *ledger) disarm(a *account, t *table) (pos int64, ok bool) {
	pos, ok = t.armed[a]
	if ok {
		delete(t.armed, a)
		delete(a.armed, t)
		l.armed--
	}
	return pos, ok
}

// notified enters a notification that came at a moment and disarms what it fired: a delete fires the
// data and the child watch of a session with one packet.
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
	case n.armed == nil: // its arming was not seen
		n.armed, n.after = first, a.last.Load()
	}
	n.armed.fired = append(n.armed.fired, n)
	a.open = append(a.open, n)
	a.unsure.Store(true)
	l.waiting = append(l.waiting, n)
	l.resolve()
}
