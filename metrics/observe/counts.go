package observe

import (
	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics/fanout"
	"github.com/stampede-bench/stampede/metrics/pattern"
)

// A wait is one turn of a session in a line, or its part in one vote, from the request that begins it.
// While it lasts, each notification is judged by what the session does next: it has waited again if
// another notification follows that it reads after.
type wait struct {
	dir   *place // the node whose children the line or the votes are, or of the notification
	other bool   // it is for neither
	tree  bool   // it is for whatever changes below dir
	stage pattern.Standing
	last  *wake   // the latest notification that the session has taken notice of
	newer []*wake // those after that, oldest first
}

// maxWaits is how many waits of one session are followed, and maxNewer how many notifications of one wait
// without a read after them.
const (
	maxWaits = 32
	maxNewer = 16
)

// begin begins a wait at the node, and ends the one before it there. It also ends the newest one if the
// session was leaving, or if both are votes: a session takes part in one vote at a time.
func (s *session) begin(a *Analysis, dir *place, stage pattern.Standing) {
	if w := s.newest; w != nil && (w.stage == pattern.Leaving || w.stage == pattern.Voted && stage == pattern.Voted) {
		s.endWait(a, w)
	}
	if w := s.waits[dir.path]; w != nil {
		s.endWait(a, w)
	}
	if len(s.waits) >= maxWaits {
		s.endWaits(a)
	}
	if s.newest != nil {
		s.before = s.newest.dir.path
	}
	s.newest = &wait{dir: dir, stage: stage}
	s.waits[dir.path] = s.newest
}

// waitAt returns the wait at the place or at the node above it, nil if there is none.
func (s *session) waitAt(p *place) *wait {
	if w := s.waits[p.path]; w != nil || p.parent == nil {
		return w
	}
	return s.waits[p.parent.path]
}

// votes reports whether a set of the node can be a vote: a site votes once, and not right below the root.
func (p *place) votes() bool {
	return p.sets <= 1 && !p.raced && p.parent != nil && p.parent.parent != nil
}

// takes reports whether a notification belongs to the wait: one for votes is about what was set once.
func (w *wait) takes(event drivers.EventType, p *place) bool {
	vote := event == drivers.DataChanged || event == drivers.Deleted && p.sets > 0
	return w != nil && (w.stage != pattern.Voted || vote && p.votes())
}

// inLine returns the wait in a line or for votes to which a notification or a read at the place
// belongs, nil if it belongs to none. What still comes of the wait before disturbs the newest.
func (s *session) inLine(p *place) *wait {
	if w := s.waitAt(p); w != nil {
		return w
	}
	if s.newest != nil && (p.path == s.before || p.parent != nil && p.parent.path == s.before) {
		return s.newest
	}
	return nil
}

// waitFor returns the wait to which a notification at the place belongs.
func (s *session) waitFor(a *Analysis, event drivers.EventType, p *place) *wait {
	if w := s.inLine(p); w.takes(event, p) {
		return w
	}
	dir := s.treeOver(p)
	w := s.others[dir.path]
	if w == nil {
		if len(s.others) >= maxWaits {
			s.settleOthers(a)
		}
		w = &wait{dir: dir, other: true, tree: dir != p}
		s.others[dir.path] = w
	}
	return w
}

// treeOver returns the node whose recursive watch of the session covers the place, or the place itself
// without one.
func (s *session) treeOver(p *place) *place {
	for up := p.parent; up != nil && s.trees > 0; up = up.parent {
		if _, watched := s.watches[watchKey{up.path, true, true}]; watched {
			return up
		}
	}
	return p
}

// waitsFor returns the waits to which a read at the place belongs.
func (s *session) waitsFor(p *place) (all []*wait) {
	if w := s.inLine(p); w != nil {
		if all = append(all, w); w.stage != pattern.Voted {
			return all
		}
	}
	for _, w := range s.others {
		if w.isAbout(p) {
			all = append(all, w)
		}
	}
	return all
}

// concerns reports whether the places are one, a node and its child, or children of one node. Those of
// the root have nothing in common.
func (p *place) concerns(q *place) bool {
	if p.path == q.path {
		return true
	}
	up, over := p.parent, q.parent
	return over != nil && over.path == p.path || up != nil && up.path == q.path || up != nil && over != nil && up.path == over.path && up.parent != nil
}

// isAbout reports whether the place concerns the wait: one at a recursive watch is about all that is below.
func (w *wait) isAbout(p *place) bool { return w.dir.concerns(p) || w.tree && w.dir.isAbove(p) }

// isAbove reports whether the other place is below this one, at any depth. So is the prefix of its keys.
func (p *place) isAbove(q *place) bool { return q != p && fanout.IsBelow(q.path, p.path) }

// holds reports whether a write of the other place uses what a notification at this one offers.
func (p *place) holds(q *place) bool { return p.path == q.path || p.isAbove(q) }

// latest returns the latest notification of which it is not known what came of it, nil if there is none.
func (w *wait) latest() *wake {
	if end := len(w.newer) - 1; end >= 0 {
		return w.newer[end]
	}
	return w.last
}

// pending returns the latest notification if it concerns the place and it is not known yet what came of it.
func (s *session) pending(p *place) *wake {
	if s.woke == nil || s.woke.ended || !s.woke.isAbout(p) {
		return nil
	}
	return s.woke
}

// readsFor returns the notification after which the session reads the node: the latest one of that node, where others
// came beside it, and also one of which it is known what came of it, until the session acts.
func (s *session) readsFor(p *place) *wake {
	w, in := s.pending(p), s.others[p.path]
	switch {
	case w != nil && w.place != p && in != nil && in.latest() != nil:
		return in.latest()
	case w == nil && in != nil && len(in.newer) > 0: // it was told of other nodes since
		return in.latest()
	case w == nil && s.woke != nil && !s.woke.race.acted && s.woke.isAbout(p):
		return s.woke
	}
	return w
}

// notified adds a notification.
func (w *wait) notified(a *Analysis, s *session, n *wake) {
	if w.stage == pattern.Turned && w.last != nil && w.last.standing == pattern.Waiting && w == s.waitAt(w.last.place) {
		w.finishLast(a, s) // it led to the turn
	}
	if len(w.newer) == maxNewer {
		s.finish(a, w.newer[0], pattern.Waited)
		w.newer = w.newer[1:]
	}
	switch end := len(w.newer) - 1; { // the last of several at once stands for all
	case !n.further:
	case end >= 0 && n.writes == w.newer[end].writes:
		w.newer[end].further, n.further = true, w.newer[end].further
	case end < 0 && w.last != nil:
		w.last.further, n.further = true, w.last.further
	}
	w.newer = append(w.newer, n)
	if n.tells() && (w.stage != pattern.Voted || w != s.waitAt(n.place)) { // the removal of a site is no vote
		w.answered(a, s)
	}
}

// answered records a reply to a read, or a notification that needs none: the session has taken notice of all
// notifications before it.
func (w *wait) answered(a *Analysis, s *session) {
	if len(w.newer) == 0 {
		return
	}
	end := len(w.newer) - 1
	w.again(a, s)
	for _, n := range w.newer[:end] {
		s.finish(a, n, pattern.Waited)
	}
	w.last, w.newer = w.newer[end], nil
}

// again finishes the last notification: the session waited again after it, or it was not in a line, and
// then what it did next decides.
func (w *wait) again(a *Analysis, s *session) {
	n := w.last
	w.last = nil
	switch {
	case n == nil:
	case w.other:
		s.finish(a, n, s.superseded(n))
	default:
		s.finish(a, n, pattern.Waited)
	}
}

// finishLast ends what the session has done so far: the latest notification that it noticed led to it.
func (w *wait) finishLast(a *Analysis, s *session) {
	if w.last != nil {
		s.finish(a, w.last, pattern.Acted)
		w.last = nil
	}
}

// wins ends what the session has done so far by a write for which it was woken. What came before the reply is
// of no use for that.
func (w *wait) wins(a *Analysis, s *session) {
	if n := w.latest(); n != nil && n.raced {
		w.answered(a, s)
	}
	w.finishLast(a, s)
	for _, n := range w.newer {
		n.late = true
	}
}

// enters begins another stage.
func (w *wait) enters(a *Analysis, s *session, next pattern.Standing) {
	w.wins(a, s)
	for _, n := range w.newer {
		s.finish(a, n, pattern.Unread)
	}
	w.newer, w.stage = nil, next
}

// race records that the session has asked for the single node at the place, which it may win or lose: it has
// taken notice of the notifications before that, without a read.
func (s *session) race(p *place) {
	for _, w := range s.others {
		if end := len(w.newer) - 1; end >= 0 && w.isAbout(p) {
			w.newer[end].raced = true
		}
	}
}

// waitsElsewhere records a notification of a watch that the session has armed since the latest
// notification in a line: even if that led to the turn, the turn only let the session wait for
// something else.
func (s *session) waitsElsewhere(a *Analysis, m *drivers.Message, p *place) {
	armed, ok := s.watches[watchKey{path: p.path, children: m.Event == drivers.ChildrenChanged}]
	if !ok {
		return
	}
	for _, w := range s.waits {
		inLine := w.stage == pattern.Waiting || w.stage == pattern.Turned
		if inLine && w.last != nil && w != s.waitAt(p) && !armed.at.Before(w.last.at) && (w.dir.holds(p) || p.pattern.Lined && w.isAbout(p)) {
			w.again(a, s)
		}
	}
}

// endWait ends a wait.
func (s *session) endWait(a *Analysis, w *wait) {
	w.enters(a, s, w.stage)
	delete(s.waits, w.dir.path)
	if s.newest == w {
		s.newest, s.before = nil, w.dir.path
	}
}

func (s *session) endWaits(a *Analysis) {
	for _, w := range s.waits {
		s.endWait(a, w)
	}
}

// settle decides what came of the session's notifications when it or the observation ends.
func (s *session) settle(a *Analysis) {
	s.countBeside()
	s.takeTurn(a)
	s.endRace(a)
	for _, w := range s.waits {
		if w.last != nil && w.last.rearmed {
			w.again(a, s)
		}
	}
	s.endWaits(a)
	s.settleOthers(a)
}

// settleOthers decides what came of the notifications that belong to no line and no vote.
func (s *session) settleOthers(a *Analysis) {
	for _, w := range s.others {
		w.answered(a, s)
		w.again(a, s)
	}
	clear(s.others)
}
