package tree

import (
	"iter"
	"slices"

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

// MaxTTL is the longest TTL of a node, in milliseconds.
const MaxTTL = 1<<40 - 1

// untilEmpty is the life of a container. The life of a node with a TTL is its TTL in milliseconds
// after its last write; that of other nodes is 0.
const untilEmpty = -1

func lifeOf(op *Op) int64 {
	switch {
	case op.Mode&Container != 0:
		return untilEmpty
	case op.Mode&Expiring != 0:
		return op.TTL
	}
	return 0
}

// Idle returns the paths of the nodes without children that [Reap] may delete at the time now, in
// milliseconds since 1970: containers that had a child, and nodes that were not written for their
// TTL.
func (t *Tree) Idle(now int64) []string {
	var paths []string
	for n, life := range t.mortal {
		if n.NumChildren() == 0 && n.outlived(life, now) {
			paths = append(paths, n.path())
		}
	}
	slices.Sort(paths) // map order is random; transactions need a fixed order
	return paths
}

// IsIdle reports whether Idle would return the path.
func (t *Tree) IsIdle(path string, now int64) bool {
	n := t.Find(path)
	return n != nil && n.NumChildren() == 0 && t.mortal[n] != 0 && n.outlived(t.mortal[n], now)
}

func (n *Node) outlived(life, now int64) bool {
	if life == untilEmpty {
		return n.history().creates > 0
	}
	return now-n.mtime > life
}

// reap deletes a node on behalf of the server. It fails if the node now has children or has no
// life.
func (t *Tree) reap(op *Op) wire.Err {
	n := t.Find(op.Path)
	switch {
	case n == nil:
		return wire.ErrNoNode
	case n.NumChildren() > 0:
		return wire.ErrNotEmpty
	case t.mortal[n] == 0:
		return wire.ErrBadVersion
	}
	t.remove(n, op.Path)
	return wire.OK
}
