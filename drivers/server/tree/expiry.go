package tree

import (
	"slices"

	"github.com/stampede-bench/stampede/drivers/wire"
)

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
