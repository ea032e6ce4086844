package tree

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

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
