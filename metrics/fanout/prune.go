package fanout

import "slices"

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
