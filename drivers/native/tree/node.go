package tree

import (
	"iter"
	"slices"
	"strings"

	"github.com/stampede-bench/stampede/drivers/wire"
)

// A Node is one node of a tree. What is read from it holds until the next Apply.
type Node struct {
	name     string // without the parent; the root's is empty
	parent   *Node
	data     []byte     // never changed in place
	acl      []wire.ACL // nor this; nil is everyone's
	czxid    int64
	mzxid    int64
	pzxid    int64
	ctime    int64
	mtime    int64
	version  int32
	aversion int32
	creates  int32 // of children, ever; wraps
	place    int32 // in the parent's list
	children *children
	owned    *owned // nil but for ephemeral nodes
	life     int64  // 0, untilEmpty, or a time to live
}

// children are found by name and listed in an order that depends on nothing but
// the transactions.
type children struct {
	byName map[string]*Node
	list   []*Node
}

// owned is an ephemeral node's place among those of its session, which are
// linked in the order of their creation.
type owned struct {
	by         *session
	prev, next *Node
}

// Find returns the node at the path, or nil. As in ZooKeeper the empty path is
// another name of the root.
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
	return n.children.byName[name]
}

// Data is what the node holds; do not change it.
func (n *Node) Data() []byte { return n.data }

// NumChildren is how many children the node has.
func (n *Node) NumChildren() int {
	if n.children == nil {
		return 0
	}
	return len(n.children.list)
}

// Descendants is how many nodes are below the node.
func (n *Node) Descendants() int {
	count := n.NumChildren()
	if count > 0 {
		for _, c := range n.children.list {
			count += c.Descendants()
		}
	}
	return count
}

// Children yields the names of the children, in no particular order.
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

// Stat is what the service knows of the node.
func (n *Node) Stat() wire.Stat {
	s := wire.Stat{
		Czxid: n.czxid, Mzxid: n.mzxid, Pzxid: n.pzxid,
		Ctime: n.ctime, Mtime: n.mtime,
		Version: n.version, Aversion: n.aversion,
		// ZooKeeper keeps the creates and reports creates and deletes.
		Cversion:    2*n.creates - int32(n.NumChildren()),
		DataLength:  int32(len(n.data)),
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

// size is the length of the node's path and data.
func (n *Node) size() int64 {
	size := len(n.data)
	for ; n.parent != nil; n = n.parent {
		size += len("/") + len(n.name)
	}
	return int64(size)
}

// attach puts n last among the children of parent.
func (t *Tree) attach(parent, n *Node) {
	if parent.children == nil {
		parent.children = &children{byName: map[string]*Node{}}
	}
	kids := parent.children
	n.parent, n.place = parent, int32(len(kids.list))
	kids.byName[n.name] = n
	kids.list = append(kids.list, n)
	if n.life != 0 {
		t.mortal[n] = struct{}{}
	}
	t.size.Nodes++
	t.size.Bytes += n.size()
}

// detach takes n away from its parent; the last child takes its place.
func (t *Tree) detach(n *Node) {
	kids := n.parent.children
	delete(kids.byName, n.name)
	last := len(kids.list) - 1
	moved := kids.list[last]
	kids.list[n.place], moved.place = moved, n.place
	kids.list[last] = nil
	kids.list = kids.list[:last]
	delete(t.mortal, n)
	t.size.Nodes--
	t.size.Bytes -= n.size()
}

// reattach undoes detach.
func (t *Tree) reattach(n *Node) {
	place := n.place
	t.attach(n.parent, n)
	list := n.parent.children.list
	list[n.place], list[place] = list[place], n
	list[n.place].place, n.place = n.place, place
}
