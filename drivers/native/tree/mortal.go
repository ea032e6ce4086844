package tree

import (
	"slices"

	"github.com/stampede-bench/stampede/drivers/wire"
)

// What stands where an ephemeral node has its owner: containers have the one
// number, nodes with a time to live have it below the other.
const (
	containerOwner = -1 << 63
	ttlOwner       = -1 << 56
)

// MaxTTL is the longest time to live of a node, in milliseconds.
const MaxTTL = 1<<40 - 1

// ownerOf is what stands in the place of the owner.
func ownerOf(op *Op) int64 {
	switch {
	case op.Mode&Container != 0:
		return containerOwner
	case op.Mode&Expiring != 0:
		return ttlOwner | op.TTL
	}
	return 0
}

// Idle returns the paths of the nodes without children that [Reap] may take
// away at the time, in milliseconds since 1970: containers that had a child, and
// nodes that were not written for the time they had to live.
func (t *Tree) Idle(now int64) []string {
	var paths []string
	for n := range t.mortal {
		if n.NumChildren() == 0 && n.outlived(now) {
			paths = append(paths, n.path())
		}
	}
	slices.Sort(paths) // a map has no order, the transactions need one
	return paths
}

func (n *Node) outlived(now int64) bool {
	if n.special == containerOwner {
		return n.creates > 0
	}
	return now-n.mtime > n.special&MaxTTL
}

// reap deletes on the service's own account, if the node is still one that may go.
func (t *Tree) reap(op *Op) wire.Err {
	n := t.Find(op.Path)
	switch {
	case n == nil:
		return wire.ErrNoNode
	case n.NumChildren() > 0:
		return wire.ErrNotEmpty
	case n.special == 0:
		return wire.ErrBadVersion
	}
	t.remove(n, op.Path)
	return wire.OK
}
