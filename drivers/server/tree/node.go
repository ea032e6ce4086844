package tree

import (
	"iter"
	"slices"
	"strings"
	"unsafe"

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

// children can be found by name. Their order depends only on the transactions. The zero value is
// empty.
type children struct {
	list  []*Node
	table table // places in list, by name
	below int   // number of descendants of the parent
	history
}

// A history is the part of a node's stat that depends on the creation and deletion of children.
type history struct {
	pzxid   int64 // zxid of the last creation or deletion of a child, or the node's czxid
	creates int32 // number of children ever created; wraps
}

// find returns the child with the name, or nil.
func (c *children) find(name string) *Node {
	if len(c.list) == 0 {
		return nil
	}
	hash := hashOf(name)
	for i := c.table.home(hash); c.table[i].used(); i = c.table.next(i) {
		if c.table[i].hash != hash {
			continue
		}
		if n := c.list[c.table[i].place()]; n.name == name {
			return n
		}
	}
	return nil
}

// add appends n. No other child may have its name.
func (c *children) add(n *Node) {
	n.place = int32(len(c.list))
	c.list = append(c.list, n)
	c.enter(n)
}

// remove removes n and moves the last child to its place. n keeps its place for putBack.
func (c *children) remove(n *Node) {
	c.table.remove(hashOf(n.name), n.place)
	last := len(c.list) - 1
	if moved := c.list[last]; moved != n {
		c.move(moved, n.place)
	}
	c.list[last] = nil
	c.list = c.list[:last]
}

// putBack undoes remove. All later changes must have been undone before.
func (c *children) putBack(n *Node) {
	last := int32(len(c.list))
	c.list = append(c.list, n)
	if n.place != last {
		c.move(c.list[n.place], last)
		c.list[n.place] = n
	}
	c.enter(n)
}

// enter adds n, which is in the list, to the table.
func (c *children) enter(n *Node) {
	if c.table.full(len(c.list)) {
		c.table = c.table.grown()
	}
	c.table.add(slotOf(hashOf(n.name), n.place))
}

// move moves n to another place and overwrites the child there.
func (c *children) move(n *Node, place int32) {
	hash := hashOf(n.name)
	c.table[c.table.find(hash, n.place)] = slotOf(hash, place)
	c.list[place], n.place = n, place
}

// A data is a []byte, null or not, without a capacity. This saves a third of a slice's header in
// every node.
type data struct {
	first *byte
	len   int
}

func dataOf(b []byte) data { return data{unsafe.SliceData(b), len(b)} }

func (d data) bytes() []byte { return unsafe.Slice(d.first, d.len) }
