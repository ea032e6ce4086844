package metrics

import "github.com/stampede-bench/stampede/drivers"

// What a session's close deletes is known from its creates: its ephemeral nodes
// that have not gone before. Replies of several sessions may be seen in another
// order than the writes happened in, so a create or delete that is seen before
// the reply to the close of the node's session may still be the later one.
//
// Note: one case is not told apart: somebody else's delete of a node whose
// session then closed, if the reply to the close is seen first. The node then
// counts as deleted twice.

// belong notes that the create at pos made n an ephemeral node of the session.
func (n *node) belong(a *account, pos int64) {
	if n.changed(pos, unbounded) && !a.closing {
		return // gone already
	}
	a.ephemerals[n.path] = pos
	if pos > n.created {
		n.owner, n.created = a, pos
	}
}

// replace notes that an ephemeral node created before pos is gone at pos.
func (l *ledger) replace(n *node, pos int64) {
	o := n.owner
	if o == nil || pos < n.created {
		return
	}
	if !o.closing || pos <= o.last.Load() { // else its close may have been first
		delete(o.ephemerals, n.path)
	}
	n.owner = nil
}

// sweep enters the close w of the session in the logs of what it deleted.
func (l *ledger) sweep(a *account, w *write) {
	for path, created := range a.ephemerals {
		if n := l.node([]byte(path)); !n.changed(created, w.pos) {
			l.touch(w, []byte(path), drivers.Deleted)
		}
	}
}

// disown forgets the session's nodes.
func (l *ledger) disown(a *account) {
	for path := range a.ephemerals {
		if n := l.nodes[path]; n != nil {
			if n.owner == a {
				n.owner = nil
			}
			l.tidy(n)
		}
	}
	clear(a.ephemerals)
}

// changed tells whether n is known to have come or gone between the positions.
func (n *node) changed(after, before int64) bool {
	t := n.tables[data]
	for _, e := range t.log[t.after(after):] {
		if e.pos < before && e.event != drivers.DataChanged {
			return true
		}
	}
	return false
}
