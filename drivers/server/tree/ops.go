package tree

import (
	"fmt"
	"strings"

	"github.com/stampede-bench/stampede/drivers/wire"
)

// The checks are in ZooKeeper's order, which decides the error of a request with two faults.

func (t *Tree) create(x *Txn, op *Op) OpResult {
	if lastSlash(op.Path) < 0 || hasNull(op.Path) {
		return OpResult{Err: wire.ErrBadArguments}
	}
	acl, err := granted(op.ACL, x.Who)
	if err != wire.OK {
		return OpResult{Err: err}
	}
	parent := t.Find(parentPath(op.Path))
	path := op.Path
	if parent != nil && op.Mode&Sequential != 0 {
		path = fmt.Sprintf("%s%010d", path, parent.history().creates)
	}
	if err := t.mayCreate(x, op, parent, path); err != wire.OK {
		return OpResult{Err: err}
	}
	n := &Node{
		name: strings.Clone(path[lastSlash(path)+1:]), data: dataOf(op.Data), access: accessOf(acl),
		czxid: t.zxid, mzxid: t.zxid, ctime: x.Time, mtime: x.Time,
		epoch: t.epoch, // a snapshot in progress must not include it
	}
	t.record(Create, n, parent)
	t.hideStat(parent, parentPath(path))
	t.attach(parent, n, lifeOf(op))
	if op.Mode&Ephemeral != 0 {
		t.own(t.sessions[x.Session], n)
	}
	parent.children.creates++
	parent.children.pzxid = t.zxid
	t.showStat(parent, parentPath(path))
	t.show(n, path)
	t.emit(wire.EventCreated, path, n)
	t.emit(wire.EventChildrenChanged, parentPath(path), parent)
	return OpResult{Path: path, Stat: n.Stat()}
}

func (t *Tree) mayCreate(x *Txn, op *Op, parent *Node, path string) wire.Err {
	switch {
	case parent == nil:
		return wire.ErrNoNode
	case !parent.Allows(wire.PermCreate, x.Who):
		return wire.ErrNoAuth
	case !ValidPath(path):
		return wire.ErrBadArguments
	case path == "/" || parent.child(path[lastSlash(path)+1:]) != nil:
		return wire.ErrNodeExists
	case parent.owned != nil:
		return wire.ErrNoChildrenForEphemerals
	case op.Mode&Ephemeral != 0 && t.sessions[x.Session] == nil:
		return wire.ErrSessionExpired
	}
	return wire.OK
}

func (t *Tree) delete(x *Txn, op *Op) wire.Err {
	n := t.Find(op.Path)
	switch {
	case !deletable(op.Path):
		return wire.ErrBadArguments
	case !t.mayDelete(x, op.Path, n):
		return wire.ErrNoAuth
	case n == nil:
		return wire.ErrNoNode
	case !matches(op.Version, n.version):
		return wire.ErrBadVersion
	case n.NumChildren() > 0:
		return wire.ErrNotEmpty
	}
	t.remove(n, op.Path)
	return wire.OK
}

func deletable(path string) bool { return lastSlash(path) >= 0 && !hasNull(path) && !fixed(path) }

// mayDelete checks the parent's ACL, even if the node does not exist.
func (t *Tree) mayDelete(x *Txn, path string, n *Node) bool {
	var parent *Node
	if n != nil {
		parent = n.parent
	} else if parent = t.Find(parentPath(path)); parent == nil {
		return true
	}
	return parent.Allows(wire.PermDelete, x.Who)
}

// remove removes a node without children.
func (t *Tree) remove(n *Node, path string) {
	parent := n.parent
	t.record(Delete, n, parent)
	t.hide(n, path)
	t.hideStat(parent, parentPath(path))
	t.disown(n)
	t.detach(n)
	parent.children.pzxid = t.zxid
	t.showStat(parent, parentPath(path))
	t.emit(wire.EventDeleted, path, n)
	t.emit(wire.EventChildrenChanged, parentPath(path), parent)
}

func (t *Tree) setData(x *Txn, op *Op) OpResult {
	n, err := t.existing(x, op, wire.PermWrite)
	switch {
	case err != wire.OK:
		return OpResult{Err: err}
	case !matches(op.Version, n.version):
		return OpResult{Err: wire.ErrBadVersion}
	}
	t.record(SetData, n, n)
	t.hide(n, op.Path)
	t.size.Bytes += int64(len(op.Data) - n.data.len)
	n.data = dataOf(op.Data)
	n.version++
	n.mzxid, n.mtime = t.zxid, x.Time
	t.show(n, op.Path)
	t.emit(wire.EventDataChanged, op.Path, n)
	return OpResult{Stat: n.Stat()}
}

func (t *Tree) setACL(x *Txn, op *Op) OpResult {
	if !ValidPath(op.Path) {
		return OpResult{Err: wire.ErrBadArguments}
	}
	acl, err := granted(op.ACL, x.Who)
	if err != wire.OK {
		return OpResult{Err: err}
	}
	n, err := t.existing(x, op, wire.PermAdmin)
	switch {
	case err != wire.OK:
		return OpResult{Err: err}
	case !matches(op.Version, n.aversion):
		return OpResult{Err: wire.ErrBadVersion}
	}
	t.record(SetACL, n, n)
	t.hideStat(n, op.Path)
	n.access = accessOf(acl)
	n.aversion++
	t.showStat(n, op.Path)
	return OpResult{Stat: n.Stat()}
}

func (t *Tree) check(x *Txn, op *Op) wire.Err {
	n, err := t.existing(x, op, wire.PermRead)
	if err == wire.OK && !matches(op.Version, n.version) {
		return wire.ErrBadVersion
	}
	return err
}

// existing returns the node of an operation, which must allow the permission.
func (t *Tree) existing(x *Txn, op *Op, perm int32) (*Node, wire.Err) {
	if !ValidPath(op.Path) {
		return nil, wire.ErrBadArguments
	}
	n := t.Find(op.Path)
	switch {
	case n == nil:
		return nil, wire.ErrNoNode
	case !n.Allows(perm, x.Who):
		return nil, wire.ErrNoAuth
	}
	return n, wire.OK
}

func matches(wanted, version int32) bool { return wanted == AnyVersion || wanted == version }

// A change holds the information that undoes one operation of a multi.
type change struct {
	kind    Kind
	node    *Node
	saved   Node // the previous state of the node or, for Create and Delete, of the parent
	history history
	life    int64
}

// record saves the state before an operation on n, for the snapshot in progress and for an undo.
func (t *Tree) record(kind Kind, n, saved *Node) {
	t.keep(n)
	t.keep(saved)
	if t.multi {
		t.journal = append(t.journal, change{kind, n, *saved, saved.history(), t.mortal[n]})
	}
}

// applyMulti applies all operations or none. If one fails, its result has the error, results before
// it have none, and results after it have ErrRuntimeInconsistency.
func (t *Tree) applyMulti(x *Txn) []OpResult {
	t.multi, t.results = true, t.results[:0]
	digest := t.digest
	for i := range x.Ops {
		r := t.applyOp(x, &x.Ops[i])
		t.results = append(t.results, r)
		if r.Err != wire.OK {
			t.abort(len(x.Ops) - i - 1)
			t.digest = digest
			break
		}
	}
	clear(t.journal)
	t.multi, t.journal = false, t.journal[:0]
	return t.results
}

func (t *Tree) abort(untried int) {
	for i := len(t.journal) - 1; i >= 0; i-- {
		t.undo(&t.journal[i])
	}
	t.events = t.events[:0]
	clear(t.results[:len(t.results)-1])
	for range untried {
		t.results = append(t.results, OpResult{Err: wire.ErrRuntimeInconsistency})
	}
}

func (t *Tree) undo(c *change) {
	n := c.node
	switch c.kind {
	case SetData:
		t.size.Bytes -= int64(n.data.len - c.saved.data.len)
		n.data, n.version = c.saved.data, c.saved.version
		n.mzxid, n.mtime = c.saved.mzxid, c.saved.mtime
		return
	case SetACL:
		n.access, n.aversion = c.saved.access, c.saved.aversion
		return
	case Create:
		t.disown(n)
		t.detach(n)
	case Delete:
		t.reattach(n, c.life)
		t.reown(n)
	}
	n.parent.children.history = c.history
}
