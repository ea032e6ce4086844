package fanout

import (
	"bytes"
	"slices"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/metrics/delivery"
	"github.com/stampede-bench/stampede/metrics/pathname"
)

// A write is a change at a position in the total order, with its notifications. The ledger
// keeps it while further notifications of it may come.
type write struct {
	trigger
	pos     int64
	foreign bool
	tables  []*table
	refs    int // logs that contain it, plus one for the ledger's order
}

// A trigger is a write that causes notifications: their number, the sessions that they went to, and the times of
// the first and last.
type trigger struct {
	n           int64
	woken       []int64 // the number of the session of each notification
	first, last time.Time

	// The write's session, and the write with the operations of a transaction after it, for a
	// listener; by is nil if the write is foreign or there is no listener.
	by   *sessionState
	made []drivers.TxnOp
	tag  any // see Session.Tag
}

func (w *trigger) add(n *notification) {
	if w.n == 0 || n.at.Before(w.first) {
		w.first = n.at
	}
	if n.at.After(w.last) {
		w.last = n.at
	}
	w.n++
	w.woken = append(w.woken, n.state.number)
}

// fanout returns the number of sessions that the write has notified. A session with several watches is notified
// several times.
func (w *trigger) fanout() int64 {
	slices.Sort(w.woken)
	return int64(len(slices.Compact(w.woken)))
}

// writeAt returns the write at pos. If it creates a new one, foreign says whether that is
// foreign.
func (l *ledger) writeAt(pos int64, foreign bool) *write {
	w := l.writes[pos]
	if w == nil {
		w = &write{pos: pos, foreign: foreign, refs: 1}
		l.writes[pos] = w
		l.order = append(l.order, w)
		l.highest = max(l.highest, pos)
	}
	return w
}

// apply enters the changes that the session's write made, according to its reply.
func (l *ledger) apply(s *sessionState, m *drivers.Message) {
	w := l.writeAt(m.Pos, false)
	w.foreign = false // a notification may have created it earlier
	l.wroteBy(w, s, m)
	if len(m.Parts) == 0 {
		l.applyPart(s, w, drivers.TxnOp{Op: m.Op, Path: m.Path, Mode: m.Mode})
	}
	for _, p := range m.Parts {
		l.applyPart(s, w, p)
	}
}

// applyPart enters the change that one operation of a write made.
func (l *ledger) applyPart(s *sessionState, w *write, p drivers.TxnOp) {
	switch p.Op {
	case drivers.OpCreate:
		l.record(w, p.Path, drivers.Created)
		l.endEphemeral(l.node(p.Path), w.pos)
		if p.Mode&drivers.Ephemeral != 0 {
			l.node(p.Path).ownedBy(s, w.pos)
		}
	case drivers.OpSet:
		l.record(w, p.Path, drivers.DataChanged)
	case drivers.OpDelete:
		l.record(w, p.Path, drivers.Deleted)
		l.endEphemeral(l.node(p.Path), w.pos)
	case drivers.OpClose:
		l.recordDeletesOfClose(s, w)
	}
}

// record enters a change at path in the logs of the tables whose watches it fires.
func (l *ledger) record(w *write, path []byte, e drivers.EventType) {
	for _, t := range l.node(path).covers(e) {
		t.enter(w, e)
	}
	if up := pathname.Parent(path); len(up) > 0 && (e == drivers.Created || e == drivers.Deleted) {
		l.node(up).tables[children].enter(w, drivers.ChildrenChanged)
	}
}

// A serial numbers the write requests of all sessions in the order in which they were sent.
type serial uint64

// An inFlight holds the write requests that have not been answered. The zero inFlight is empty.
type inFlight struct {
	first    serial // everything before it has been answered
	answered []bool // for first and those after it
}

// next returns the serial of the next request.
func (f *inFlight) next() serial { return f.first + serial(len(f.answered)) }

func (f *inFlight) send() serial {
	f.answered = append(f.answered, false)
	return f.next() - 1
}

// complete records that a request has been answered, or that nobody waits for its reply.
func (f *inFlight) complete(n serial) {
	if n < f.first {
		return // nobody has waited for it
	}
	f.answered[n-f.first] = true
	for len(f.answered) > 0 && f.answered[0] {
		f.answered = f.answered[1:]
		f.first++
	}
}

// A Listener is notified of the cause of each notification, for an analysis that describes the writes one
// by one. It is called with the Meter's lock held, so it must not call the Meter or its sessions.
type Listener interface {
	// Caused is called when the write that caused a notification is known. That may be later than
	// the notification.
	Caused(n Notified)
	// Complete is called when no further notification of the write can come.
	Complete(t Trigger)
	// Undelivered is called for sessions that are audited, for each notification that is not delivered as
	// promised, or of which that is not known.
	Undelivered(v delivery.Violation)
}

// A Trigger identifies a write that caused notifications. It is comparable.
type Trigger struct{ of *trigger }

// A Notified is a notification with the write that caused it.
type Notified struct {
	Trigger Trigger
	Session *Session // that was notified
	Nth     int64    // its place among the notifications of the session, from 1
	Path    string   // that the notification names
	Event   drivers.EventType
	// Writer, Op and Written describe the write, or the operation of a transaction that changed
	// what was watched. Writer is nil if no session of the Meter is known to have made the write;
	// the others are zero then.
	Writer  *Session
	Op      drivers.Op
	Written string // the path that the write changed, "" for the end of a session
	Tag     any    // see Session.Tag, nil if Writer is
}

// NewListening returns a Meter that reports causes to the listener. It counts no window and has no time
// line, and takes the time of each packet from now, which may be the time at which the packet was
// captured. It keeps about as many writes, and as many notifications without a cause, as limit
// says: see bounds.
func NewListening(listener Listener, now func() time.Time, limit int) *Meter {
	m := NewMeter(metrics.NewWindow())
	m.now, m.ledger.listener, m.ledger.timeline = now, listener, nil
	m.ledger.bounds.limit = limit
	m.CheckDelivery(listener.Undelivered)
	return m
}

// Tag makes the listener get the tag with each notification of the writes whose replies come from now on.
func (s *Session) Tag(tag any) {
	s.meter.mu.Lock()
	defer s.meter.mu.Unlock()
	s.state.tag = tag
}

// End records that the session will not come back: its watches and its ephemeral nodes are gone.
func (s *Session) End() {
	s.meter.mu.Lock()
	defer s.meter.mu.Unlock()
	s.meter.ledger.abandonWrites(s.state)
	s.meter.ledger.leave(s.state)
}

// Finish assigns the notifications that still wait for a reply, by what is known at the call.
func (m *Meter) Finish() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ledger.assignAll()
}

// caused reports to the listener a notification whose write is known.
func (l *ledger) caused(w *trigger, n *notification) {
	if l.listener == nil {
		return
	}
	told := Notified{Trigger: Trigger{w}, Session: n.state.session, Nth: n.nth, Path: n.path, Event: n.event}
	if w.by != nil {
		made := w.changed(n)
		told.Writer, told.Op, told.Written, told.Tag = w.by.session, made.Op, string(made.Path), w.tag
	}
	l.listener.Caused(told)
}

// changed returns the operation of the write that the notification reports: of a transaction the first that makes that
// change, or else the first at that path, or the whole write.
func (w *trigger) changed(n *notification) drivers.TxnOp {
	found, at := w.made[0], false
	for _, p := range w.made {
		named, makes := p.Path, p.Op.Change() == n.event
		if n.event == drivers.ChildrenChanged {
			named, makes = pathname.Parent(p.Path), p.Op == drivers.OpCreate || p.Op == drivers.OpDelete
		}
		switch {
		case string(named) != n.path:
		case makes:
			return p
		case !at:
			found, at = p, true
		}
	}
	return found
}

// wroteBy records the writer of a write for the listener.
func (l *ledger) wroteBy(w *write, s *sessionState, m *drivers.Message) {
	if l.listener == nil {
		return
	}
	w.by, w.tag, w.made = s, s.tag, []drivers.TxnOp{{Op: m.Op, Path: bytes.Clone(m.Path)}}
	for _, p := range m.Parts {
		if p.Op.IsWrite() {
			p.Path = bytes.Clone(p.Path)
			w.made = append(w.made, p)
		}
	}
}

// A changeKey is the content of a notification without a position.
type changeKey struct {
	path  string
	event drivers.EventType
}

// A foreignTrigger is a trigger that no session of this Meter is known to have made: an expiry, a
// write of another process, or a write whose reply was cut off. Its position is known only to
// satisfy after < position <= before. Two notifications of one change can belong to the same
// trigger if these bounds are compatible and if the notifications went to two sessions, since a
// watch fires once.
type foreignTrigger struct {
	trigger
	serial        int64 // in the order of their first notifications
	after, before int64
	notified      map[*sessionState]struct{}
}

// assignForeign adds the notification to the first foreign trigger that it can belong to, or to a new
// one.
func (l *ledger) assignForeign(n *notification) {
	c := changeKey{n.path, n.event}
	after := max(n.after, n.since)
	for _, f := range l.foreign[c] {
		_, again := f.notified[n.state]
		if !again && max(f.after, after) < min(f.before, n.before) {
			l.notify(&f.trigger, n)
			f.include(n, after)
			l.shows(n, n.surely, n.before, true)
			return
		}
	}
	l.foreigners++
	f := &foreignTrigger{serial: l.foreigners, before: unbounded, notified: map[*sessionState]struct{}{}}
	l.notify(&f.trigger, n)
	f.include(n, after)
	l.foreign[c] = append(l.foreign[c], f)
	l.shows(n, n.surely, n.before, false)
	if limit := int64(l.bounds.limit); limit > 0 && l.foreigners%limit == 0 { // no write may come that prunes
		l.boundForeign()
	}
}

func (f *foreignTrigger) include(n *notification, after int64) {
	f.after, f.before = max(f.after, after), min(f.before, n.before)
	f.notified[n.state] = struct{}{}
}
