package delivery

import (
	"slices"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics/pathname"
)

// A lasting is a persistent watch.
type lasting struct {
	session *Session
	node    *node
	tree    bool
	at      int64 // position from which it reports changes
	stale   bool  // it was armed on an earlier connection
	again   bool  // a request to arm it again is in flight
	excused bool  // nothing more is owed to it: it may have been removed, or others on its path overlap
	beside  bool  // a one-shot watch was armed on its path
}

// maxEarly is how many notifications a session keeps that came before the reply to their write. Those of other
// processes' writes remain.
const maxEarly = 256

func (k *lasting) covers(n *node, e drivers.EventType) bool {
	if k.node == n {
		return !k.tree || e != drivers.ChildrenChanged
	}
	return k.tree && e != drivers.ChildrenChanged // the caller comes from below
}

func (k *lasting) leave() {
	n := k.node
	n.lasting = slices.DeleteFunc(n.lasting, func(o *lasting) bool { return o == k })
	k.session.checker.lastings--
	k.session.checker.tidy(n)
}

// eachOver yields the persistent watches that cover an event at the node.
func (c *Checker) eachOver(n *node, e drivers.EventType, yield func(*lasting)) {
	for path := n.path; path != ""; path = pathname.Parent(path) {
		at := c.nodes[path]
		if at == nil {
			continue
		}
		for _, k := range at.lasting {
			if k.covers(n, e) {
				yield(k)
			}
		}
	}
}

// armLasting enters a persistent watch that a reply has armed.
func (s *Session) armLasting(m *drivers.Message) {
	n, tree := s.checker.node(m.Path), m.Op == drivers.OpWatchTree
	for _, watches := range s.watches {
		watches[n].lapse()
	}
	for _, k := range n.lasting {
		if k.session == s && k.tree == tree && !k.stale {
			return
		}
	}
	s.excuseLasting(n) // what the server makes of two on one node depends on its version
	s.addLasting(&lasting{session: s, node: n, tree: tree, at: m.Pos, excused: s.persists(n)})
}

func (s *Session) addLasting(k *lasting) {
	k.node.lasting = append(k.node.lasting, k)
	s.lasting = append(s.lasting, k)
	s.checker.lastings++
}

// persists reports whether the session has a persistent watch on the node.
func (s *Session) persists(n *node) bool {
	return slices.ContainsFunc(n.lasting, func(k *lasting) bool { return k.session == s })
}

// standsBeside enters a one-shot watch on the node, and reports whether the session has a persistent watch there.
func (s *Session) standsBeside(n *node) (lasts bool) {
	for _, k := range n.lasting {
		if k.session == s {
			lasts, k.beside = true, true
			k.excused = k.excused || s.blind
		}
	}
	return lasts
}

func (s *Session) againLasting(n *node, tree bool) {
	if !s.persists(n) { // the client believes that it has one, of an earlier session
		s.addLasting(&lasting{session: s, node: n, tree: tree, excused: true})
	}
	for _, k := range n.lasting {
		if k.session == s {
			k.again = true
			k.excused = k.excused || k.tree != tree
		}
	}
}

// excuseLasting makes the session's persistent watches on the node owe nothing more.
func (s *Session) excuseLasting(n *node) {
	for _, k := range n.lasting {
		if k.session == s {
			k.excused = true
		}
	}
}

// resolve ends what persistent watches owe where done says so. It is reported as the kind says, 0 if it has come or is
// known not to be due. Nothing else ends such a debt.
func (s *Session) resolve(done func(change) (k Kind, over bool)) {
	s.expected = slices.DeleteFunc(s.expected, func(c change) bool {
		k, over := done(c)
		if over && k != 0 && !s.counted(c) {
			s.violated(k, c)
		}
		return over
	})
}

// owes reports whether a persistent watch of the session must report the change.
func (s *Session) owes(c change) (owes bool) {
	s.checker.eachOver(c.node, c.event, func(k *lasting) {
		owes = owes || k.session == s && !k.stale && !k.excused && k.at < c.pos
	})
	return owes
}

// armedBy returns the kind of the watch.
func (k *lasting) armedBy() drivers.WatchKinds {
	if k.tree {
		return drivers.TreeWatch
	}
	return drivers.NodeWatch
}

// endLasting ends the session's persistent watches that the service has ended, and what only they owe. Those that are removed
// tell nothing more; else the service may, depending on its version.
func (s *Session) endLasting(removed bool, ended func(*lasting) bool) {
	var over []change
	for _, c := range s.expected {
		s.checker.eachOver(c.node, c.event, func(k *lasting) {
			if k.session == s && ended(k) {
				over = append(over, c)
			}
		})
	}
	s.lasting = slices.DeleteFunc(s.lasting, func(k *lasting) bool {
		switch {
		case !ended(k):
			return false
		case removed:
			k.leave()
		default:
			k.excused = true
		}
		return removed
	})
	s.resolve(func(c change) (Kind, bool) { return 0, slices.Contains(over, c) && !s.owes(c) })
}

// changeLasting makes the sessions whose persistent watches cover the change, which was made at a position at the latest, owe
// its notification.
func (c *Checker) changeLasting(is change, latest int64) {
	c.told = c.told[:0]
	c.eachOver(is.node, is.event, func(k *lasting) {
		s := k.session
		if !k.stale && !k.excused && k.at < latest && !slices.Contains(c.told, s) {
			c.told = append(c.told, s)
			s.expect(is)
		}
	})
}

// doubts reports whether a change is in doubt: it may not have been made.
func (c change) doubts() bool { return c.pos == unbounded }

// counted takes one notification without a position from those that have come, or any if the change is in doubt, if there is
// one that may report the change. Which of several it reports is not known, but of the changes before a reply there cannot be
// more.
func (s *Session) counted(c change) bool {
	unplaced := change{c.node, c.event, 0}
	if s.unplaced[unplaced] > 0 {
		if s.unplaced[unplaced]--; s.unplaced[unplaced] == 0 {
			delete(s.unplaced, unplaced)
		}
		return true
	}
	i := slices.IndexFunc(s.early, func(o change) bool { return c.doubts() && o.node == c.node && o.event == c.event })
	if i >= 0 {
		s.early = slices.Delete(s.early, i, i+1)
	}
	return i >= 0
}

// expect enters a change that the session must be notified of, or has been, or that is in doubt.
func (s *Session) expect(is change) {
	doubt := slices.Index(s.expected, change{is.node, is.event, unbounded})
	switch {
	case is.pos <= s.forgot, is.doubts() && doubt >= 0:
		return
	case doubt >= 0:
		s.expected = slices.Delete(s.expected, doubt, doubt+1)
	}
	if i := slices.Index(s.early, is); i >= 0 {
		s.early = slices.Delete(s.early, i, i+1)
		s.did(is)
		return
	}
	s.expected = append(s.expected, is)
	s.due(is.pos)
}

// did remembers a notification whose write is known.
func (s *Session) did(is change) {
	s.done[s.nextDone] = is
	s.nextDone = (s.nextDone + 1) % len(s.done)
}

// fireLasting reports whether a persistent watch of the session covers the notification.
func (s *Session) fireLasting(is change) (covered bool) {
	if len(s.lasting) == 0 {
		return false
	}
	judged := false
	s.checker.eachOver(is.node, is.event, func(k *lasting) {
		if k.session == s {
			covered = true
			judged = judged || !k.stale && !k.excused
		}
	})
	switch {
	case !covered:
	case is.pos == 0:
		s.old()
		s.keepUnplaced(is)
	case slices.Contains(s.expected, is):
		s.did(is)
		paid := false
		s.resolve(func(c change) (Kind, bool) {
			pays := !paid && c == is
			paid = paid || pays
			return 0, pays
		})
	case !judged:
	case slices.Contains(s.done[:], is):
		s.violated(Twice, is)
	default:
		s.keepEarly(is)
	}
	return covered
}

// keepEarly keeps a notification until its write is known.
func (s *Session) keepEarly(is change) {
	if len(s.early) == maxEarly {
		for _, o := range s.early[:maxEarly/2] {
			s.forgot = max(s.forgot, o.pos)
		}
		s.early = slices.Delete(s.early, 0, maxEarly/2)
	}
	s.early = append(s.early, is)
}

// keepUnplaced counts a notification without a position until a write is known that it may report. However many writes are in
// flight, none is forgotten. Of more nodes and events than are counted, the session is no longer judged.
func (s *Session) keepUnplaced(is change) {
	if s.unplaced == nil {
		s.unplaced = map[change]int{}
	}
	if len(s.unplaced) == maxEarly && s.unplaced[is] == 0 {
		s.endLasting(false, func(*lasting) bool { return true })
		clear(s.unplaced)
		return
	}
	s.unplaced[is]++
}

// old records that the service tells no positions. It then is one whose one-shot watches end persistent ones on their
// path, so that what only these owe is not due.
func (s *Session) old() {
	if s.blind {
		return
	}
	s.blind = true
	s.endLasting(false, func(k *lasting) bool { return k.beside })
}

// verifyLasting finds notifications that came more often than the write at the position has changed the node.
func (c *Checker) verifyLasting(n *node, pos int64) {
	verify := func(k *lasting) {
		s := k.session
		s.early = slices.DeleteFunc(s.early, func(o change) bool {
			surplus := o.node == n && o.pos == pos && slices.Contains(s.done[:], o)
			if surplus {
				s.violated(Twice, o)
			}
			return surplus
		})
	}
	c.eachOver(n, drivers.DataChanged, verify)
	c.eachOver(n, drivers.ChildrenChanged, verify)
}

// settleLasting reports what persistent watches owe up to the position, and returns the lowest position
// after it at which they owe something.
func (s *Session) settleLasting(last int64) (low int64) {
	low = unbounded
	s.resolve(func(c change) (Kind, bool) {
		switch {
		case c.pos > last:
			low = min(low, c.pos)
			return 0, false
		case s.owes(c):
			return Missing, true
		}
		return Undecided, true // what the server does is not promised
	})
	return low
}
