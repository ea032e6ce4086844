package fanout

import (
	"cmp"
	"slices"
)

// bounds limit what a ledger keeps of programs that it does not control: a client that hangs with a
// write in flight, or a connection without replies, would otherwise hold all later writes and
// notifications. What is beyond the limit is decided by what is known then.
type bounds struct {
	limit int   // 0 for none
	early int64 // writes and notifications that were decided because of the limit
}

// Early returns how many writes and notifications were decided before everything was known of them,
// because the limit was reached.
func (m *Meter) Early() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.ledger.bounds.early
}

// boundWrites ends the wait for the reply to the write that was sent first, if too many are in flight.
func (l *ledger) boundWrites() {
	if l.bounds.limit == 0 || len(l.inFlight.answered) < l.bounds.limit {
		return
	}
	l.bounds.early++
	l.inFlight.complete(l.inFlight.first)
	l.resolve()
}

// boundNotifications assigns all notifications if too many wait, for a write in flight or for the
// next reply of their session.
func (l *ledger) boundNotifications() {
	if l.bounds.limit == 0 || l.open < l.bounds.limit && len(l.waiting) < l.bounds.limit {
		return
	}
	l.bounds.early += int64(max(l.open, len(l.waiting)))
	l.assignAll()
	l.boundForeign()
}

// boundKept lets go of the older half of the writes if too many are kept for further notifications. An
// armed watch keeps the one write that may fire it. It reports whether there were too many.
func (l *ledger) boundKept() bool {
	limit := l.bounds.limit
	if limit == 0 || len(l.order) <= limit {
		return false
	}
	n := len(l.order) - limit/2
	l.bounds.early += int64(n)
	for _, w := range l.order[:n] { // a position may be lower than that of an earlier one
		l.pruned = max(l.pruned, w.pos)
	}
	return true
}

// boundUnreported gives up the writes that only persistent watches hold, if there are too many.
func (l *ledger) boundUnreported() {
	if l.bounds.limit == 0 || len(l.writes) <= 2*l.bounds.limit+int(l.armed) {
		return
	}
	before := len(l.writes)
	for _, n := range l.nodes {
		for _, k := range n.persistent {
			if k.reported < l.pruned {
				k.reported, k.at = l.pruned, k.at[:0]
			}
		}
	}
	for _, n := range l.nodes {
		for _, t := range n.tables {
			l.trim(t)
		}
	}
	l.bounds.early += int64(before - len(l.writes))
}

// boundForeign completes the older half of the foreign triggers if there are too many: their positions
// are not always known to be reached.
func (l *ledger) boundForeign() {
	if l.bounds.limit == 0 {
		return
	}
	var all []*foreignTrigger
	for _, triggers := range l.foreign {
		all = append(all, triggers...)
	}
	if len(all) <= l.bounds.limit {
		return
	}
	slices.SortFunc(all, func(a, b *foreignTrigger) int { return cmp.Compare(a.serial, b.serial) })
	newest := all[len(all)-l.bounds.limit/2-1].serial
	for c, triggers := range l.foreign {
		triggers = slices.DeleteFunc(triggers, func(f *foreignTrigger) bool {
			if f.serial > newest {
				return false
			}
			l.bounds.early++
			l.complete(&f.trigger, true)
			return true
		})
		if len(triggers) == 0 {
			delete(l.foreign, c)
		} else {
			l.foreign[c] = triggers
		}
	}
}

// prune drops the writes to which no further notification can belong.
//
// On one connection a notification comes before every reply that includes the change. So once
// every session has had a reply at or after a write's position, all notifications of that write
// have come. There are two exceptions: watches that the client library has not set again after
// a cut, and services that do not keep this order. So the ledger keeps a write while an armed
// watch waits for it or a persistent watch has not reported it. Replies to heartbeats carry a
// position too, so idle sessions do not delay pruning for long.
func (l *ledger) prune() {
	l.pruned = l.completeUpTo()
	l.dropPruned()
	if l.boundKept() {
		l.dropPruned()
	}
	for c, triggers := range l.foreign {
		triggers = slices.DeleteFunc(triggers, func(f *foreignTrigger) bool {
			gone := f.before <= l.pruned
			if gone {
				l.complete(&f.trigger, true)
			}
			return gone
		})
		if len(triggers) == 0 {
			delete(l.foreign, c)
		} else {
			l.foreign[c] = triggers
		}
	}
	l.boundForeign()
	l.boundUnreported()
	// Checking every session is expensive: run again only after as many new writes.
	l.batch = len(l.order) + max(smallestBatch, len(l.sessions))
}

// dropPruned drops the writes up to the position pruned.
func (l *ledger) dropPruned() {
	for len(l.order) > 0 && l.order[0].pos <= l.pruned {
		w := l.order[0]
		l.order[0] = nil
		l.order = l.order[1:]
		for _, t := range w.tables {
			l.trim(t)
		}
		l.release(w)
	}
}

// completeUpTo returns the position up to which every connected session has received its notifications
// and they have been assigned.
func (l *ledger) completeUpTo() int64 {
	low := l.highest
	for s := range l.sessions {
		if s.connected {
			low = min(low, s.last.Load())
		}
	}
	for _, n := range l.waiting {
		low = min(low, n.after)
	}
	return low
}

// trim drops the table's changes before pruned that no watch refers to, and drops the node if it is
// then idle.
func (l *ledger) trim(t *table) {
	if n := t.indexAfter(l.pruned); n > 0 {
		wanted := t.wanted(n, l.unreported(t))
		kept := t.log[:0]
		for i, e := range t.log {
			if i >= n || wanted[i] {
				kept = append(kept, e)
			} else {
				l.release(e.write)
			}
		}
		clear(t.log[len(kept):])
		t.log = kept
	}
	l.tidy(t.node)
}

func (l *ledger) tidy(n *node) {
	if n.idle() && l.nodes[n.path] == n {
		delete(l.nodes, n.path)
	}
}

// release drops one reference to the write, and drops the write with its last reference.
func (l *ledger) release(w *write) {
	if w.refs--; w.refs == 0 {
		delete(l.writes, w.pos)
		l.complete(&w.trigger, w.foreign)
	}
}
