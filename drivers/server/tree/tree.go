package tree

import (
	"strings"

	"github.com/stampede-bench/stampede/drivers/wire"
)

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

func lastSlash(path string) int { return strings.LastIndexByte(path, '/') }

func hasNull(path string) bool { return strings.IndexByte(path, 0) >= 0 }

// parentPath returns the parent of a path that contains a slash.
func parentPath(path string) string { return path[:max(lastSlash(path), 1)] }

// fixed reports whether the path is one of the built-in nodes.
func fixed(path string) bool {
	switch path {
	case "/", "/zookeeper", "/zookeeper/config", "/zookeeper/quota":
		return true
	}
	return false
}

// ValidPath reports whether ZooKeeper accepts the path for a node: absolute, without empty or
// relative names, control characters, or characters that one UTF-16 unit cannot hold.
func ValidPath(path string) bool {
	if path == "/" {
		return true
	}
	if path == "" || path[0] != '/' {
		return false
	}
	for name := range strings.SplitSeq(path[1:], "/") {
		if !validName(name) {
			return false
		}
	}
	return true
}

func validName(name string) bool {
	if name == "" || name == "." || name == ".." {
		return false
	}
	return strings.IndexFunc(name, forbidden) < 0
}

// forbidden also rejects U+FFFD, which stands for invalid UTF-8.
func forbidden(r rune) bool {
	switch {
	case r <= 0x1f, r >= 0x7f && r <= 0x9f:
		return true
	case r >= 0xd800 && r <= 0xf8ff, r >= 0xfff0:
		return true
	}
	return false
}

// A Txn is one change of the state, or a refused one. Its paths and data belong to the tree after
// the transaction is applied.
type Txn struct {
	Session int64      // the session of the request and owner of its ephemeral nodes
	Who     []Identity // the client's identities
	Time    int64      // in milliseconds since 1970
	Op                 // the operation
	Ops     []Op       // for Multi: all or nothing
	Opening            // for OpenSession
}

// An Op is an operation on a node.
type Op struct {
	Kind    Kind
	Path    string
	Data    []byte
	ACL     []wire.ACL // for Create and SetACL, as requested
	Mode    Mode       // for Create
	TTL     int64      // for Create with Expiring: milliseconds, at most MaxTTL
	Version int32      // expected version of the node (for SetACL, of its ACL), or AnyVersion
	Err     wire.Err   // for Refuse
}

// AnyVersion matches every version.
const AnyVersion int32 = -1

// An Opening holds the parameters of a new session.
type Opening struct {
	Timeout  int32 // in milliseconds
	Password [wire.PasswordSize]byte
}

// A Kind is the kind of an operation.
type Kind uint8

const (
	Create Kind = iota + 1
	Delete
	SetData
	SetACL
	Check // checks the version and changes nothing
	Reap  // deletes a node that Idle returned
	Multi
	OpenSession
	CloseSession // also deletes its ephemeral nodes; on request or by expiry
	// Refuse changes nothing. As in ZooKeeper, a write that the server refused before Apply still
	// takes a zxid.
	Refuse
)

// A Mode is the kind of node to create; the bits combine.
type Mode uint8

const (
	Ephemeral Mode = 1 << iota
	Sequential
	Container // deleted after its last child
	Expiring  // deleted when it has no children and was not written for its TTL
)

// A Result is the result of a transaction. Every transaction has its own zxid, including one that
// failed.
type Result struct {
	Zxid int64
	OpResult
	Ops []OpResult // for Multi; valid until the next Apply
}

// An OpResult is the result of an operation.
type OpResult struct {
	Err  wire.Err
	Path string    // the created path
	Stat wire.Stat // after Create and SetData
}

// An Event is a change that can fire watches.
type Event struct {
	Type int32 // wire.EventCreated and so on
	Path string
	Node *Node // the node at the path, or the deleted one; only clients that may read it are notified
}
