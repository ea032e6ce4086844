package fanout

import (
	"time"

	"github.com/stampede-bench/stampede/drivers"
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

// A trigger is a write that causes notifications: their number and the times of the first and last.
type trigger struct {
	n           int64
	first, last time.Time

	// The write's session, and the write with the operations of a transaction after it, for a
	// listener; by is nil if the write is foreign or there is no listener.
	by   *sessionState
	made []drivers.TxnOp
}

func (w *trigger) add(at time.Time) {
	if w.n == 0 || at.Before(w.first) {
		w.first = at
	}
	if at.After(w.last) {
		w.last = at
	}
	w.n++
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
	if up := parent(path); up != nil && (e == drivers.Created || e == drivers.Deleted) {
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
