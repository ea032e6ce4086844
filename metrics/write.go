package metrics

import (
	"time"

	"github.com/stampede-bench/stampede/drivers"
)

// A write is a change at a position in the total order, with its notifications. The ledger
// keeps it while further notifications of it may come.
type write struct {
	wakes
	pos     int64
	foreign bool
	touched []*table
	refs    int // logs that contain it, plus one for the ledger's order
}

// wakes are the notifications of one trigger.
type wakes struct {
	n           int64
	first, last time.Time
}

func (w *wakes) add(at time.Time) {
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
func (l *ledger) apply(a *account, m *drivers.Message) {
	w := l.writeAt(m.Pos, false)
	w.foreign = false // a notification may have created it earlier
	switch m.Op {
	case drivers.OpCreate:
		l.touch(w, m.Path, drivers.Created)
		l.replace(l.node(m.Path), m.Pos)
		if m.Mode&drivers.Ephemeral != 0 {
			l.node(m.Path).belong(a, m.Pos)
		}
	case drivers.OpSet:
		l.touch(w, m.Path, drivers.DataChanged)
	case drivers.OpDelete:
		l.touch(w, m.Path, drivers.Deleted)
		l.replace(l.node(m.Path), m.Pos)
	case drivers.OpClose:
		l.sweep(a, w)
	}
}

// touch enters a change at path in the logs of the tables whose watches it fires.
func (l *ledger) touch(w *write, path []byte, e drivers.EventType) {
	for _, t := range l.node(path).covers(e) {
		t.enter(w, e)
	}
	if up := parent(path); up != nil && (e == drivers.Created || e == drivers.Deleted) {
		l.node(up).tables[children].enter(w, drivers.ChildrenChanged)
	}
}
