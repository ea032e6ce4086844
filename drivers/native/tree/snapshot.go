package tree

import "math"

// A Snapshot is the tree as it was when the snapshot began, read piece by piece
// while the tree goes on: a node that is about to change before its turn has its
// image taken first.
type Snapshot struct {
	tree     *Tree
	zxid     int64
	digest   uint64
	sessions []Session
	kept     []Image // of nodes that changed before their turn
	walk     []step  // from the root to where the next piece goes on
}

// A step is a node on the way, and how many of its children are still to come.
// They are taken from the last to the first: so none is missed when one that is
// deleted leaves its place to the last, and new ones come behind.
type step struct {
	node *Node
	path string // without a slash at the end
	left int
}

// Snapshot begins a snapshot. A tree has one at a time, until Next has returned
// all of it or it is ended.
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

// Zxid is the position of the last transaction that the snapshot shows.
func (s *Snapshot) Zxid() int64 { return s.zxid }

// Digest is that of the tree when the snapshot began.
func (s *Snapshot) Digest() uint64 { return s.digest }

// Sessions are those that were open, in no particular order.
func (s *Snapshot) Sessions() []Session { return s.sessions }

// Next appends images of about n nodes that were not returned before, in no
// particular order, and tells whether there may be more.
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

// End ends the snapshot, whether all of it was read or not.
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

// keep takes the image of a node that is about to change, if a snapshot has not
// had it yet.
func (t *Tree) keep(n *Node) {
	if t.snapshot == nil || n.epoch == t.epoch {
		return
	}
	n.epoch = t.epoch
	t.snapshot.kept = append(t.snapshot.kept, t.image(n, n.path()))
}
