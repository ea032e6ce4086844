package fanout

import "github.com/stampede-bench/stampede/drivers"

// The ledger derives what a session's close deletes from the session's creates: the ephemeral
// nodes that were not deleted earlier. The Meter may see replies of several sessions in another
// order than the service made the writes. So a create or delete seen before the reply to the
// close of the owner's session may still be later than the close.
//
// Note: one case is not detected: another session deletes the node, the owner's session then
// closes, and the reply to the close is seen first. The node then counts as deleted twice.

// ownedBy records that the create at pos made n an ephemeral node of the session.
func (n *node) ownedBy(s *sessionState, pos int64) {
	if n.changed(pos, unbounded) && !s.closing {
		return // already deleted
	}
	s.ephemerals[n.path] = pos
	if pos > n.created {
		n.owner, n.created = s, pos
	}
}

// endEphemeral records that an ephemeral node created before pos no longer exists at pos.
func (l *ledger) endEphemeral(n *node, pos int64) {
	o := n.owner
	if o == nil || pos < n.created {
		return
	}
	if !o.closing || pos <= o.last.Load() { // else the session's close may have deleted the node first
		delete(o.ephemerals, n.path)
	}
	n.owner = nil
}

// recordDeletesOfClose enters the session's close w in the logs of the nodes that it deleted.
func (l *ledger) recordDeletesOfClose(s *sessionState, w *write) {
	for path, created := range s.ephemerals {
		if n := l.node([]byte(path)); !n.changed(created, w.pos) {
			l.record(w, []byte(path), drivers.Deleted)
		}
	}
}

// releaseEphemerals removes the session as owner of its ephemeral nodes.
func (l *ledger) releaseEphemerals(s *sessionState) {
	for path := range s.ephemerals {
		if n := l.nodes[path]; n != nil {
			if n.owner == s {
				n.owner = nil
			}
			l.tidy(n)
		}
	}
	clear(s.ephemerals)
}

// changed reports whether n is known to have been created or deleted between the two positions.
func (n *node) changed(after, before int64) bool {
	t := n.tables[data]
	for _, e := range t.log[t.after(after):] {
		if e.pos < before && e.event != drivers.DataChanged {
			return true
		}
	}
	return false
}
