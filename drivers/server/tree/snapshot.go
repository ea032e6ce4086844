package tree

import "math"

// A Snapshot is the tree at the time when the snapshot began. It is read in pieces while the tree
// changes: before a node that was not yet read changes, the tree saves its image.
type Snapshot struct {
	tree     *Tree
	zxid     int64
	digest   uint64
	sessions []Session
	kept     []Image // images of nodes that changed before they were read
	walk     []step  // from the root to the position of the next piece
}

// A step is a node on the current path, and the number of its children that are still to be read.
// Children are read from the last to the first. The walk misses none: the last child takes the
// place of a deleted one, and new children are appended.
type step struct {
	node *Node
	path string // without a trailing slash
	left int
}

// Snapshot starts a snapshot. A tree has at most one at a time, until Next has returned all of it
// or End is called.
func (t *Tree) Snapshot() *Snapshot {
	t.epoch++
	s := &Snapshot{tree: t, zxid: t.zxid, digest: t.digest}
	for x := range t.Sessions() {
		s.sessions = append(s.sessions, x)
	}
	t.snapshot = s
	t.keep(t.root)
	s.walk = append(s.walk, step{node: t.root, left: math.MaxInt})
	return s
}

// Zxid returns the zxid of the last transaction that the snapshot includes.
func (s *Snapshot) Zxid() int64 { return s.zxid }

// Digest returns the tree's digest when the snapshot began.
func (s *Snapshot) Digest() uint64 { return s.digest }

// Sessions returns the sessions that were open, in no particular order.
func (s *Snapshot) Sessions() []Session { return s.sessions }

// Next appends images of about n more nodes, in no particular order, and reports whether there may
// be more.
func (s *Snapshot) Next(images []Image, n int) (_ []Image, more bool) {
	for range n {
		if len(s.walk) == 0 {
			break
		}
		images = s.visit(images)
	}
	images = append(images, s.kept...)
	clear(s.kept)
	s.kept = s.kept[:0]
	if len(s.walk) == 0 {
		s.End()
	}
	return images, len(s.walk) > 0
}

// End ends the snapshot, even if it was not read completely.
func (s *Snapshot) End() {
	if s.tree.snapshot == s {
		s.tree.snapshot = nil
	}
}

// visit takes one step.
func (s *Snapshot) visit(images []Image) []Image {
	at := &s.walk[len(s.walk)-1]
	at.left = min(at.left, at.node.NumChildren())
	if at.left == 0 {
		s.walk = s.walk[:len(s.walk)-1]
		return images
	}
	at.left--
	n := at.node.children.list[at.left]
	path := at.path + "/" + n.name
	if n.epoch != s.tree.epoch {
		n.epoch = s.tree.epoch
		images = append(images, s.tree.image(n, path))
	}
	if n.NumChildren() > 0 {
		s.walk = append(s.walk, step{node: n, path: path, left: math.MaxInt})
	}
	return images
}

// keep saves the image of a node that is about to change, unless the snapshot already has it.
func (t *Tree) keep(n *Node) {
	if t.snapshot == nil || n.epoch == t.epoch {
		return
	}
	n.epoch = t.epoch
	t.snapshot.kept = append(t.snapshot.kept, t.image(n, n.path()))
}
