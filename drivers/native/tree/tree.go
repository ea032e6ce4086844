package tree

import "github.com/stampede-bench/stampede/drivers/wire"

// A Tree is the nodes and sessions of a service.
type Tree struct {
	root     *Node
	sessions map[int64]*session
	mortal   map[*Node]int64 // the life of containers, and of nodes with a time to live
	zxid     int64           // of the last transaction
	size     Size

	snapshot *Snapshot // that is being read, or nil
	epoch    uint32    // counts snapshots

	digesting bool   // the digest is kept
	digest    uint64 // of all nodes and sessions

	events  []Event    // of the transaction being applied
	results []OpResult // of the multi being applied
	journal []change   // how to take back the multi being applied
	multi   bool       // one is being applied
}

// Size is how much a tree holds.
type Size struct {
	Nodes      int
	Ephemerals int
	Sessions   int
	Bytes      int64 // of paths and data
}

// New returns the tree of a service that was never used. Like ZooKeeper's it
// has a /zookeeper, which counts as no child ever created.
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

// bare returns a tree that is a root and nothing else.
func bare() *Tree {
	return &Tree{
		root: &Node{}, sessions: map[int64]*session{}, mortal: map[*Node]int64{},
		size: Size{Nodes: 1, Bytes: int64(len("/"))},
	}
}

// Zxid is the position of the last transaction in the order of all.
func (t *Tree) Zxid() int64 { return t.zxid }

// Size tells how much the tree holds.
func (t *Tree) Size() Size { return t.size }

// Apply carries out the transaction. The events are in the order in which
// watchers must learn of them; they are valid until the next Apply.
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
