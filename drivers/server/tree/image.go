package tree

import (
	"slices"

	"github.com/stampede-bench/stampede/drivers/wire"
)

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
