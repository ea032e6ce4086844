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
	excused bool  // nothing is owed to it: it is being removed, or others on its path overlap
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

func (s *Session) excuseLasting(n *node) {
	for _, k := range n.lasting {
		if k.session == s {
			k.excused = true
		}
	}
	s.expected = slices.DeleteFunc(s.expected, func(c change) bool { return !s.owes(c) })
}

// owes reports whether a persistent watch of the session must report the change.
func (s *Session) owes(c change) (owes bool) {
	s.checker.eachOver(c.node, c.event, func(k *lasting) {
		owes = owes || k.session == s && !k.stale && !k.excused && k.at < c.pos
	})
	return owes
}

func (s *Session) removeLasting(n *node) {
	s.lasting = slices.DeleteFunc(s.lasting, func(k *lasting) bool {
		if k.node != n || !k.excused {
			return false
		}
		k.leave()
		return true
	})
}

// changeLasting makes the sessions whose persistent watches cover the change owe its notification.
func (c *Checker) changeLasting(n *node, e drivers.EventType, pos int64) {
	is := change{n, e, pos}
	c.told = c.told[:0]
	c.eachOver(n, e, func(k *lasting) {
		s := k.session
		if !s.blind && !k.stale && !k.excused && k.at < pos && !slices.Contains(c.told, s) {
			c.told = append(c.told, s)
			s.expect(is)
		}
	})
}

// expect enters a change that the session must be notified of, or has been.
func (s *Session) expect(is change) {
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
	if !judged {
		return covered
	}
	if is.pos == 0 { // then it is not known which change it reports
		s.blind, s.expected = true, s.expected[:0]
		return true
	}
	if i := slices.Index(s.expected, is); i >= 0 {
		s.did(is)
		s.expected = slices.Delete(s.expected, i, i+1)
		return true
	}
	if slices.Contains(s.done[:], is) {
		s.violated(Twice, is)
		return true
	}
	if len(s.early) == maxEarly {
		s.early = slices.Delete(s.early, 0, maxEarly/2)
	}
	s.early = append(s.early, is)
	return true
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
	s.expected = slices.DeleteFunc(s.expected, func(c change) bool {
		if c.pos <= last {
			s.violated(Missing, c)
			return true
		}
		low = min(low, c.pos)
		return false
	})
	return low
}
