package tree

import "github.com/stampede-bench/stampede/drivers/wire"

// A Tree holds the nodes and sessions of a server.
type Tree struct {
	root     *Node
	sessions map[int64]*session
	mortal   map[*Node]int64 // the life of containers and of nodes with a TTL
	zxid     int64           // of the last transaction applied
	size     Size

	snapshot *Snapshot // the snapshot in progress, or nil
	epoch    uint32    // counts snapshots

	digesting bool   // the digest is maintained
	digest    uint64 // digest of all nodes and sessions

	events  []Event    // events of the current transaction
	results []OpResult // results of the current multi
	journal []change   // undo log of the current multi
	multi   bool       // a multi is in progress
}

// Size is the size of a tree.
type Size struct {
	Nodes      int
	Ephemerals int
	Sessions   int
	Bytes      int64 // total length of paths and data
}

// New returns the tree of an unused server. As in ZooKeeper, it has a /zookeeper, which does not
// count as a created child.
func New() *Tree {
	t := bare()
	nothing := dataOf([]byte{})
	t.root.data = nothing
	proc := &Node{name: "zookeeper", data: nothing}
	t.attach(t.root, proc, 0)
	readers := []wire.ACL{{Perms: wire.PermRead, Scheme: "world", ID: "anyone"}}
	t.attach(proc, &Node{name: "config", data: nothing, access: accessOf(readers), aversion: -1}, 0)
	t.attach(proc, &Node{name: "quota", data: nothing}, 0)
	return t
}

// bare returns a tree with a root only.
func bare() *Tree {
	return &Tree{
		root: &Node{}, sessions: map[int64]*session{}, mortal: map[*Node]int64{},
		size: Size{Nodes: 1, Bytes: int64(len("/"))},
	}
}

// Zxid returns the zxid of the last transaction.
func (t *Tree) Zxid() int64 { return t.zxid }

// Skip makes the zxid of the next transaction greater than the zxid, unless it is already.
func (t *Tree) Skip(zxid int64) { t.zxid = max(t.zxid, zxid) }

// Size returns the size of the tree.
func (t *Tree) Size() Size { return t.size }

// Apply executes a transaction. The events are in the order in which watchers must be notified;
// they are valid until the next Apply.
func (t *Tree) Apply(x Txn) (Result, []Event) {
	t.zxid++
	t.events = t.events[:0]
	r := Result{Zxid: t.zxid}
	switch x.Kind {
	case Multi:
		r.Ops = t.applyMulti(&x)
	case OpenSession:
		r.Err = t.openSession(&x)
	case CloseSession:
		r.Err = t.closeSession(x.Session)
	default:
		r.OpResult = t.applyOp(&x, &x.Op)
	}
	return r, t.events
}

func (t *Tree) applyOp(x *Txn, op *Op) OpResult {
	switch op.Kind {
	case Create:
		return t.create(x, op)
	case Delete:
		return OpResult{Err: t.delete(x, op)}
	case SetData:
		return t.setData(x, op)
	case SetACL:
		return t.setACL(x, op)
	case Check:
		return OpResult{Err: t.check(x, op)}
	case Reap:
		return OpResult{Err: t.reap(op)}
	case Refuse:
		return OpResult{Err: op.Err}
	}
	return OpResult{Err: wire.ErrUnimplemented}
}

func (t *Tree) emit(kind int32, path string, n *Node) {
	t.events = append(t.events, Event{kind, path, n})
}
