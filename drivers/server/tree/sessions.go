package tree

import (
	"iter"

	"github.com/stampede-bench/stampede/drivers/wire"
)

// A Session is an open session.
type Session struct {
	ID int64
	Opening
}

type session struct {
	Session
	first, last *Node // ephemeral nodes, in the order of their creation
}

// Session returns the open session with the ID.
func (t *Tree) Session(id int64) (Session, bool) {
	s := t.sessions[id]
	if s == nil {
		return Session{}, false
	}
	return s.Session, true
}

// Sessions yields the open sessions, in no particular order.
func (t *Tree) Sessions() iter.Seq[Session] {
	return func(yield func(Session) bool) {
		for _, s := range t.sessions {
			if !yield(s.Session) {
				return
			}
		}
	}
}

// Ephemerals yields the paths of the session's ephemeral nodes, oldest first.
func (t *Tree) Ephemerals(id int64) iter.Seq[string] {
	return func(yield func(string) bool) {
		s := t.sessions[id]
		if s == nil {
			return
		}
		for n := s.first; n != nil && yield(n.path()); {
			n = n.owned.next
		}
	}
}

func (t *Tree) openSession(x *Txn) wire.Err {
	if t.sessions[x.Session] != nil {
		return wire.ErrNodeExists
	}
	t.sessions[x.Session] = &session{Session: Session{x.Session, x.Opening}}
	t.size.Sessions++
	if t.digesting {
		t.digest += t.sessions[x.Session].digest()
	}
	return wire.OK
}

// closeSession removes the session's ephemeral nodes, oldest first.
func (t *Tree) closeSession(id int64) wire.Err {
	s := t.sessions[id]
	if s == nil {
		return wire.ErrSessionExpired
	}
	for s.first != nil {
		t.remove(s.first, s.first.path())
	}
	if t.digesting {
		t.digest -= s.digest()
	}
	delete(t.sessions, id)
	t.size.Sessions--
	return wire.OK
}

// own makes n the newest ephemeral node of s.
func (t *Tree) own(s *session, n *Node) {
	n.owned = &owned{by: s, prev: s.last}
	t.reown(n)
}

// disown unlinks n from its session's nodes if it is ephemeral. n keeps its links for reown.
func (t *Tree) disown(n *Node) {
	if n.owned == nil {
		return
	}
	before, after := n.owned.neighbours()
	*before, *after = n.owned.next, n.owned.prev
	t.size.Ephemerals--
}

// reown links n again at its previous position if it is ephemeral. It undoes disown.
func (t *Tree) reown(n *Node) {
	if n.owned == nil {
		return
	}
	before, after := n.owned.neighbours()
	*before, *after = n, n
	t.size.Ephemerals++
}

// neighbours returns the two links that point to the node while it is linked.
func (o *owned) neighbours() (before, after **Node) {
	before, after = &o.by.first, &o.by.last
	if o.prev != nil {
		before = &o.prev.owned.next
	}
	if o.next != nil {
		after = &o.next.owned.prev
	}
	return before, after
}
