package tree

import (
	"fmt"

	"github.com/stampede-bench/stampede/drivers/wire"
)

// The order of the checks is ZooKeeper's: it decides which error a request
// gets that is wrong in two ways.

func (t *Tree) create(x *Txn, op *Op) OpResult {
	parent, err := t.parentOf(op.Path)
	if err != wire.OK {
		return OpResult{Err: err}
	}
	path := op.Path
	if op.Mode&Sequential != 0 {
		path = fmt.Sprintf("%s%010d", path, parent.creates)
	}
	if err := t.mayCreate(x, op, parent, path); err != wire.OK {
		return OpResult{Err: err}
	}
	n := &Node{
		name: path[lastSlash(path)+1:], data: op.Data,
		czxid: t.zxid, mzxid: t.zxid, pzxid: t.zxid, ctime: x.Time, mtime: x.Time,
	}
	t.record(Create, n, parent)
	t.attach(parent, n)
	if op.Mode&Ephemeral != 0 {
		t.own(t.sessions[x.Session], n)
	}
	parent.creates++
	parent.pzxid = t.zxid
	t.emit(wire.EventCreated, path)
	t.emit(wire.EventChildrenChanged, parentPath(path))
	return OpResult{Path: path, Stat: n.Stat()}
}

func (t *Tree) parentOf(path string) (*Node, wire.Err) {
	if lastSlash(path) < 0 || hasNull(path) {
		return nil, wire.ErrBadArguments
	}
	if parent := t.Find(parentPath(path)); parent != nil {
		return parent, wire.OK
	}
	return nil, wire.ErrNoNode
}

func (t *Tree) mayCreate(x *Txn, op *Op, parent *Node, path string) wire.Err {
	switch {
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

func (t *Tree) delete(op *Op) wire.Err {
	if lastSlash(op.Path) < 0 || hasNull(op.Path) || fixed(op.Path) {
		return wire.ErrBadArguments
	}
	n := t.Find(op.Path)
	switch {
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

// remove takes away a node that has no children.
func (t *Tree) remove(n *Node, path string) {
	parent := n.parent
	t.record(Delete, n, parent)
	t.disown(n)
	t.detach(n)
	parent.pzxid = t.zxid
	t.emit(wire.EventDeleted, path)
	t.emit(wire.EventChildrenChanged, parentPath(path))
}

func (t *Tree) setData(x *Txn, op *Op) OpResult {
	n, err := t.existing(op.Path)
	switch {
	case err != wire.OK:
		return OpResult{Err: err}
	case !matches(op.Version, n.version):
		return OpResult{Err: wire.ErrBadVersion}
	}
	t.record(SetData, n, n)
	t.size.Bytes += int64(len(op.Data) - len(n.data))
	n.data = op.Data
	n.version++
	n.mzxid, n.mtime = t.zxid, x.Time
	t.emit(wire.EventDataChanged, op.Path)
	return OpResult{Stat: n.Stat()}
}

func (t *Tree) setACL(op *Op) OpResult {
	n, err := t.existing(op.Path)
	switch {
	case err != wire.OK:
		return OpResult{Err: err}
	case !matches(op.Version, n.aversion):
		return OpResult{Err: wire.ErrBadVersion}
	}
	t.record(SetACL, n, n)
	n.aversion++
	return OpResult{Stat: n.Stat()}
}

func (t *Tree) check(op *Op) wire.Err {
	n, err := t.existing(op.Path)
	if err == wire.OK && !matches(op.Version, n.version) {
		return wire.ErrBadVersion
	}
	return err
}

func (t *Tree) existing(path string) (*Node, wire.Err) {
	if !ValidPath(path) {
		return nil, wire.ErrBadArguments
	}
	if n := t.Find(path); n != nil {
		return n, wire.OK
	}
	return nil, wire.ErrNoNode
}

func matches(wanted, version int32) bool { return wanted == AnyVersion || wanted == version }
