package tree

import (
	"slices"

	"github.com/stampede-bench/stampede/drivers/wire"
)

// MaxTTL is the longest time to live of a node, in milliseconds.
const MaxTTL = 1<<40 - 1

// untilEmpty is the life of a container. A node with a time to live has that
// many milliseconds after its last write; others have 0.
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

// Idle returns the paths of the nodes without children that [Reap] may take
// away at the time, in milliseconds since 1970: containers that had a child, and
// nodes that were not written for the time they had to live.
func (t *Tree) Idle(now int64) []string {
	var paths []string
	for n, life := range t.mortal {
		if n.NumChildren() == 0 && n.outlived(life, now) {
			paths = append(paths, n.path())
		}
	}
	slices.Sort(paths) // a map has no order, the transactions need one
	return paths
}

func (n *Node) outlived(life, now int64) bool {
	if life == untilEmpty {
		return n.history().creates > 0
	}
	return now-n.mtime > life
}

// reap deletes on the service's own account, if the node is still one that may go.
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
