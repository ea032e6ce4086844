package tree

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"
)

// Rules is the version of the rules by which Apply turns transactions into results and states. A
// change of the rules must increment it: logs record the version with which they were written.
const Rules = 1

// KeepDigest makes the tree maintain a digest from now on.
func (t *Tree) KeepDigest() {
	t.digesting, t.digest = true, 0
	t.showAll(t.root, "/")
	for _, s := range t.sessions {
		t.digest += s.digest()
	}
}

// Digest returns a value that is equal for trees with the same nodes and sessions, and almost
// certainly different for others. It is the sum of the digests of all nodes and sessions, so the
// cost of a transaction depends only on the nodes that it changes. It is 0 before KeepDigest.
func (t *Tree) Digest() uint64 { return t.digest }

func (t *Tree) showAll(n *Node, path string) {
	t.show(n, path)
	if n.NumChildren() == 0 {
		return
	}
	for _, c := range n.children.list {
		t.showAll(c, childPath(path, c.name))
	}
}

func childPath(parent, name string) string {
	if parent == "/" {
		return parent + name
	}
	return parent + "/" + name
}

// show adds the node at the path to the digest.
func (t *Tree) show(n *Node, path string) {
	t.showStat(n, path)
	t.showData(n, path)
}

// hide removes the node from the digest.
func (t *Tree) hide(n *Node, path string) {
	t.hideStat(n, path)
	t.hideData(n, path)
}

// A node's data has a digest of its own: each creation or deletion of a child changes the parent's
// stat, but not its data.

func (t *Tree) showStat(n *Node, path string) {
	if t.digesting {
		t.digest += t.statDigest(n, path)
	}
}

func (t *Tree) hideStat(n *Node, path string) {
	if t.digesting {
		t.digest -= t.statDigest(n, path)
	}
}

func (t *Tree) showData(n *Node, path string) {
	if t.digesting {
		t.digest += n.dataDigest(path)
	}
}

func (t *Tree) hideData(n *Node, path string) {
	if t.digesting {
		t.digest -= n.dataDigest(path)
	}
}

// statDigest covers all fields of the node's Image except the data.
func (t *Tree) statDigest(n *Node, path string) uint64 {
	h := n.history()
	owner, life := int64(0), int64(0)
	if n.owned != nil {
		owner = n.owned.by.ID
	}
	if len(t.mortal) > 0 {
		life = t.mortal[n]
	}
	b := binary.BigEndian.AppendUint64(make([]byte, 0, 256), xxhash.Sum64String(path))
	for _, v := range [...]int64{n.czxid, n.mzxid, h.pzxid, n.ctime, n.mtime, owner, life} {
		b = binary.BigEndian.AppendUint64(b, uint64(v))
	}
	for _, v := range [...]int32{n.version, n.aversion, h.creates} {
		b = binary.BigEndian.AppendUint32(b, uint32(v))
	}
	for a := range n.access.all() {
		b = binary.BigEndian.AppendUint32(b, uint32(a.Perms))
		b = binary.BigEndian.AppendUint64(b, xxhash.Sum64String(a.Scheme))
		b = binary.BigEndian.AppendUint64(b, xxhash.Sum64String(a.ID))
	}
	return xxhash.Sum64(b)
}

// dataDigest differs between null and empty data.
func (n *Node) dataDigest(path string) uint64 {
	data := n.data.bytes()
	b := binary.BigEndian.AppendUint64(make([]byte, 0, 32), xxhash.Sum64String(path))
	b = binary.BigEndian.AppendUint64(b, xxhash.Sum64(data))
	if data == nil {
		b = append(b, 0)
	}
	return xxhash.Sum64(b)
}

func (s Session) digest() uint64 {
	b := binary.BigEndian.AppendUint64(make([]byte, 0, 32), uint64(s.ID))
	b = binary.BigEndian.AppendUint32(b, uint32(s.Timeout))
	return xxhash.Sum64(append(b, s.Password[:]...))
}
