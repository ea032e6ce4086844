package tree

import (
	"iter"
	"slices"
	"strings"

	"github.com/stampede-bench/stampede/drivers/wire"
)

// A Node is one node of a tree. Values read from it are valid until the next Apply.
type Node struct {
	name     string // the last element of the path; the root's is empty
	parent   *Node
	data     data // never changed in place
	access   access
	czxid    int64
	mzxid    int64
	ctime    int64
	mtime    int64
	version  int32
	aversion int32
	place    int32     // index in the parent's list
	epoch    uint32    // the tree's epoch when a snapshot last took the node's image
	children *children // nil if there never was a child
	owned    *owned    // nil unless the node is ephemeral
}

// owned links an ephemeral node into the list of its session's nodes, in the order of creation.
type owned struct {
	by         *session
	prev, next *Node
}

// Find returns the node at the path, or nil. As in ZooKeeper, the empty path is also the root.
func (t *Tree) Find(path string) *Node {
	if path == "" {
		return t.root
	}
	if path[0] != '/' {
		return nil
	}
	n := t.root
	for rest := path[1:]; rest != ""; {
		name, after, more := strings.Cut(rest, "/")
		if n = n.child(name); n == nil || more && after == "" {
			return nil
		}
		rest = after
	}
	return n
}

func (n *Node) child(name string) *Node {
	if n.children == nil {
		return nil
	}
	return n.children.find(name)
}

func (n *Node) history() history {
	if n.children == nil {
		return history{pzxid: n.czxid}
	}
	return n.children.history
}

// remember sets a node's history.
func (n *Node) remember(h history) {
	if n.history() == h {
		return
	}
	if n.children == nil {
		n.children = &children{}
	}
	n.children.history = h
}

// Data returns the node's data; do not change it.
func (n *Node) Data() []byte { return n.data.bytes() }

// NumChildren returns the number of children.
func (n *Node) NumChildren() int {
	if n.children == nil {
		return 0
	}
	return len(n.children.list)
}

// Descendants returns the number of nodes below the node.
func (n *Node) Descendants() int {
	if n.children == nil {
		return 0
	}
	return n.children.below
}

// Children yields the names of the children in no particular order.
func (n *Node) Children() iter.Seq[string] {
	return func(yield func(string) bool) {
		if n.children == nil {
			return
		}
		for _, c := range n.children.list {
			if !yield(c.name) {
				return
			}
		}
	}
}

// Stat returns the node's stat.
func (n *Node) Stat() wire.Stat {
	h := n.history()
	s := wire.Stat{
		Czxid: n.czxid, Mzxid: n.mzxid, Pzxid: h.pzxid,
		Ctime: n.ctime, Mtime: n.mtime,
		Version: n.version, Aversion: n.aversion,
		// As in ZooKeeper, the tree stores the number of creates, and cversion is creates plus
		// deletes.
		Cversion:    2*h.creates - int32(n.NumChildren()),
		DataLength:  int32(n.data.len),
		NumChildren: int32(n.NumChildren()),
	}
	if n.owned != nil {
		s.EphemeralOwner = n.owned.by.ID
	}
	return s
}

func (n *Node) path() string {
	var names []string
	for ; n.parent != nil; n = n.parent {
		names = append(names, n.name)
	}
	slices.Reverse(names)
	return "/" + strings.Join(names, "/")
}

// countBelow adds more to the number of descendants of each of n's ancestors.
func (n *Node) countBelow(more int) {
	for a := n.parent; a != nil; a = a.parent {
		a.children.below += more
	}
}

// size returns the total length of the node's path and data.
func (n *Node) size() int64 {
	size := n.data.len
	for ; n.parent != nil; n = n.parent {
		size += len("/") + len(n.name)
	}
	return int64(size)
}

// attach appends n, with its life, to the children of parent.
func (t *Tree) attach(parent, n *Node, life int64) {
	if parent.children == nil {
		parent.children = &children{history: parent.history()}
	}
	n.parent = parent
	parent.children.add(n)
	t.count(n, life)
}

// reattach undoes detach.
func (t *Tree) reattach(n *Node, life int64) {
	n.parent.children.putBack(n)
	t.count(n, life)
}

func (t *Tree) count(n *Node, life int64) {
	if life != 0 {
		t.mortal[n] = life
	}
	n.countBelow(1)
	t.size.Nodes++
	t.size.Bytes += n.size()
}

// detach removes n from its parent; the last child moves to its place.
func (t *Tree) detach(n *Node) {
	n.parent.children.remove(n)
	delete(t.mortal, n)
	n.countBelow(-1)
	t.size.Nodes--
	t.size.Bytes -= n.size()
}
