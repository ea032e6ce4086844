package tree

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/stampede-bench/stampede/drivers/wire"
)

// A Snapshot is the tree at the time when the snapshot began. It is read in pieces while the tree
// changes: before a node that was not yet read changes, the tree saves its image.
type Snapshot struct {
	tree     *Tree
	zxid     int64
	digest   uint64
	sessions []Session
	kept     []Image    // images of nodes that changed before they were read
	walk     []openNode // from the root to the position of the next piece
}

// A openNode is a node on the current path, and the number of its children that are still to be read.
// Children are read from the last to the first. The walk misses none: the last child takes the
// place of a deleted one, and new children are appended.
type openNode struct {
	node *Node
	path string // without a trailing slash
	left int
}

// Snapshot starts a snapshot. A tree has at most one at a time, until Next has returned all of it
// or End is called.
func (t *Tree) Snapshot() *Snapshot {
	t.epoch++
	s := &Snapshot{tree: t, zxid: t.zxid, digest: t.digest, sessions: slices.Collect(t.Sessions())}
	t.snapshot = s
	t.keep(t.root)
	s.walk = append(s.walk, openNode{node: t.root, left: math.MaxInt})
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
		s.walk = append(s.walk, openNode{node: n, path: path, left: math.MaxInt})
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

// An Image is a copy of a node at one point in time, with all that is needed to restore it. Data
// and ACL are never changed in place: do not change them either.
type Image struct {
	Path     string
	Data     []byte
	ACL      []wire.ACL // nil is the open ACL
	Czxid    int64
	Mzxid    int64
	Pzxid    int64
	Ctime    int64
	Mtime    int64
	Version  int32
	Aversion int32
	Creates  int32 // number of children ever created
	Owner    int64 // the session of an ephemeral node, or 0
	Life     int64 // see untilEmpty
}

func (t *Tree) image(n *Node, path string) Image {
	h := n.history()
	i := Image{
		Path: path, Data: n.data.bytes(), ACL: slices.Collect(n.access.all()),
		Czxid: n.czxid, Mzxid: n.mzxid, Pzxid: h.pzxid,
		Ctime: n.ctime, Mtime: n.mtime,
		Version: n.version, Aversion: n.aversion, Creates: h.creates,
		Life: t.mortal[n],
	}
	if n.owned != nil {
		i.Owner = n.owned.by.ID
	}
	return i
}

// become sets n's fields from the image, except its name, owner and life.
func (n *Node) become(i *Image) {
	n.data, n.access = dataOf(i.Data), accessOf(i.ACL)
	n.czxid, n.mzxid = i.Czxid, i.Mzxid
	n.ctime, n.mtime = i.Ctime, i.Mtime
	n.version, n.aversion = i.Version, i.Aversion
	n.remember(history{i.Pzxid, i.Creates})
}

// A Restoration builds a tree from the images of a [Snapshot].
type Restoration struct {
	tree       *Tree
	owners     []tenure
	awaited    int    // nodes without an image so far
	parent     *Node  // parent of the last image
	parentPath string // and the parent's path
}

// A tenure is an ephemeral node and its session.
type tenure struct {
	node *Node
	path string
	by   int64
}

// Restore starts a tree with the zxid and the sessions.
func Restore(zxid int64, sessions []Session) *Restoration {
	t := bare()
	t.zxid, t.epoch = zxid, 1
	for _, s := range sessions {
		t.sessions[s.ID] = &session{Session: s}
	}
	t.size.Sessions = len(t.sessions)
	return &Restoration{tree: t, awaited: 1, parent: t.root}
}

// Add adds the node of an image. Images may come in any order. The tree keeps the image's data.
func (r *Restoration) Add(i *Image) error {
	if i.Path != "/" && !ValidPath(i.Path) {
		return fmt.Errorf("%q is no path", i.Path)
	}
	n := r.node(i.Path)
	if n.epoch == r.tree.epoch {
		return fmt.Errorf("%s is there twice", i.Path)
	}
	n.become(i)
	n.epoch = r.tree.epoch
	r.awaited--
	r.tree.size.Bytes += int64(len(i.Data))
	if i.Life != 0 {
		r.tree.mortal[n] = i.Life
	}
	if i.Owner != 0 {
		r.owners = append(r.owners, tenure{n, i.Path, i.Owner})
	}
	return nil
}

// node returns the node at the path. It creates the node and its ancestors if they are missing.
func (r *Restoration) node(path string) *Node {
	if path == "/" || path == "" {
		return r.tree.root
	}
	above, name := parentPath(path), path[lastSlash(path)+1:]
	if above != r.parentPath {
		r.parent, r.parentPath = r.node(above), above
	}
	parent := r.parent
	n := parent.child(name)
	if n == nil {
		n = &Node{name: strings.Clone(name)} // do not keep the whole path in memory
		r.tree.attach(parent, n, 0)
		r.awaited++
	}
	return n
}

// Tree returns the tree after all images were added.
func (r *Restoration) Tree() (*Tree, error) {
	if r.awaited > 0 {
		return nil, fmt.Errorf("%d nodes are missing that others are below", r.awaited)
	}
	slices.SortFunc(r.owners, func(a, b tenure) int {
		return cmp.Or(cmp.Compare(a.node.czxid, b.node.czxid), cmp.Compare(a.path, b.path))
	})
	for _, o := range r.owners {
		s := r.tree.sessions[o.by]
		if s == nil {
			return nil, fmt.Errorf("%s is of session %#x, which is missing", o.path, o.by)
		}
		r.tree.own(s, o.node)
	}
	return r.tree, nil
}
