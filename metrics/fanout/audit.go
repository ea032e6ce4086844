package fanout

import "github.com/stampede-bench/stampede/drivers"

// On a service that keeps the order of ZooKeeper, a notification comes before every reply on the same
// connection that shows the change. So a watch that is armed, and that a change has passed while its
// session has had such a reply, was missed: the session was not told, and never will be. The ledger
// looks for such watches where it prunes, where a session arms a watch again, and before a session
// closes.
//
// It does not look where it cannot know: at watches from before a cut, which the client may have set
// again or not; at what ended with a session, since the ledger derives which nodes that were; and at
// writes of other processes.

// A Missed is a watch that a change has passed without a notification.
type Missed struct {
	Session *Session
	Path    string            // that it watches
	Event   drivers.EventType // of which it was not told
}

// Audit makes the Meter tell its listener of each watch of the session that is missed, and of each
// notification that belongs to none of its watches. The session must be seen from its beginning, and
// its service must keep the order of ZooKeeper.
func (s *Session) Audit() { s.setAudited(true) }

// StopAudit ends the audit: a part of what the session sends or gets is not seen.
func (s *Session) StopAudit() { s.setAudited(false) }

func (s *Session) setAudited(on bool) {
	s.meter.mu.Lock()
	defer s.meter.mu.Unlock()
	s.state.audited = on
}

// known reports whether it is known which watches the session has: those armed after the position.
func (s *sessionState) known(armed int64) bool {
	return s.audited && s.connected && !s.closing && !s.rearming && (armed > s.cutAt || s.cutAt == 0)
}

// told reports whether the session was told of all changes in the table up to the position that are
// later than the one after which it watches. It tells the listener of the first of which it was not. A
// persistent watch reports the removal of a node once, as a change of its data.
func (l *ledger) told(s *sessionState, t *table, after, upTo int64, persistent bool) bool {
	if !s.known(after) {
		return true
	}
	for _, e := range t.log[t.indexAfter(after):] {
		switch {
		case e.pos > upTo:
			return true
		case persistent && e.event == drivers.Deleted && t == t.node.tables[children]:
		case e.by != nil && e.made[0].Op != drivers.OpClose:
			l.listener.Missed(Missed{s.session, t.node.path, e.event})
			return false
		}
	}
	return true
}

// audit looks for watches of all sessions that are missed. A missed watch that fires once is gone.
func (l *ledger) audit() {
	if l.listener == nil {
		return
	}
	late := map[*sessionState]bool{} // sessions with notifications that are not assigned yet
	for _, n := range l.waiting {
		late[n.state] = true
	}
	for _, n := range l.nodes {
		for _, t := range n.tables {
			if len(t.log) == 0 {
				continue
			}
			for s, armed := range t.armed {
				if !l.told(s, t, armed, s.last.Load(), false) {
					l.disarm(s, t)
				}
			}
			for _, k := range l.persistentOver(t) {
				if s := k.state; !late[s] && !l.told(s, t, k.upTo(t), s.last.Load(), true) {
					k.report(t, t.log[t.indexAfter(k.upTo(t))].pos)
				}
			}
		}
	}
}

// A pendingAudit is of a watch that a session has armed again, while the replies to writes were still
// to come.
type pendingAudit struct {
	state       *sessionState
	armed       *table
	after, upTo int64
	due         serial // as of a notification
}

// maxAudits is how many wait for replies to writes; further ones are left out.
const maxAudits = 1 << 12

// auditAgain looks for a change that a watch has missed between two armings.
func (l *ledger) auditAgain(s *sessionState, t *table, after, upTo int64) {
	if l.told(s, t, after, upTo, false) && s.known(after) && upTo > after && len(l.audits) < maxAudits {
		l.audits = append(l.audits, pendingAudit{s, t, after, upTo, l.inFlight.next()})
		l.resolve()
	}
}

// auditClosing looks for watches of a session that is about to close.
func (l *ledger) auditClosing(s *sessionState) {
	if l.listener == nil {
		return
	}
	for t := range s.armed {
		l.told(s, t, t.armed[s], s.last.Load(), false)
	}
}

// unasked tells the listener of a notification that belongs to no watch.
func (l *ledger) unasked(n *notification) {
	if s := n.state; l.listener != nil && s.audited && s.cutAt == 0 && !s.rearming {
		l.listener.Unasked(s.session, n.path)
	}
}
