package metrics

import "slices"

// settle drops the writes to which no further notification can belong.
//
// On one connection a notification comes before every reply that includes the change. So once
// every session has had a reply at or after a write's position, all notifications of that write
// have come. There are two exceptions: watches that the client library has not set again after
// a cut, and services that do not keep this order. So the ledger keeps a write while an armed
// watch waits for it or a persistent watch has not reported it. Replies to heartbeats carry a
// position too, so idle sessions do not delay settling for long.
func (l *ledger) settle() {
	l.settled = l.low()
	for len(l.order) > 0 && l.order[0].pos <= l.settled {
		w := l.order[0]
		l.order[0] = nil
		l.order = l.order[1:]
		for _, t := range w.touched {
			l.trim(t)
		}
		l.release(w)
	}
	for c, triggers := range l.strays {
		triggers = slices.DeleteFunc(triggers, func(f *foreign) bool {
			gone := f.before <= l.settled
			if gone {
				l.count(f.wakes, true)
			}
			return gone
		})
		if len(triggers) == 0 {
			delete(l.strays, c)
		} else {
			l.strays[c] = triggers
		}
	}
	// Checking every session is expensive: run again only after as many new writes.
	l.batch = len(l.order) + max(smallestBatch, len(l.accounts))
}

// low returns the position up to which every connected session has received its notifications
// and they have been assigned.
func (l *ledger) low() int64 {
	low := l.highest
	for a := range l.accounts {
		if a.connected {
			low = min(low, a.last.Load())
		}
	}
	for _, n := range l.waiting {
		low = min(low, n.after)
	}
	return low
}

// trim drops the table's settled touches that no watch refers to, and drops the node if it is
// then idle.
func (l *ledger) trim(t *table) {
	if n := t.after(l.settled); n > 0 {
		wanted := t.wanted(n, l.untold(t))
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
		l.count(w.wakes, w.foreign)
	}
}
