package tree

import "github.com/stampede-bench/stampede/drivers/wire"

// A Txn is one change of the state, or one that was refused. Paths and data
// belong to the tree once the transaction is applied.
type Txn struct {
	Session int64      // who asks, and the owner of ephemeral nodes
	Who     []Identity // as whom
	Time    int64      // when, in milliseconds since 1970
	Op                 // what
	Ops     []Op       // all or nothing, for Multi
	Opening            // for OpenSession
}

// An Op is an operation on a node.
type Op struct {
	Kind    Kind
	Path    string
	Data    []byte
	ACL     []wire.ACL // for Create and SetACL, as it was asked for
	Mode    Mode       // for Create
	TTL     int64      // for Create with Expiring: milliseconds, at most MaxTTL
	Version int32      // that the node (for SetACL, its access list) must have, or AnyVersion
	Err     wire.Err   // for Refuse
}

// AnyVersion is the version that every node has.
const AnyVersion int32 = -1

// An Opening is what a new session begins with.
type Opening struct {
	Timeout  int32 // in milliseconds
	Password [wire.PasswordSize]byte
}

// A Kind is what an operation does.
type Kind uint8

const (
	Create Kind = iota + 1
	Delete
	SetData
	SetACL
	Check // the version, without a change
	Reap  // delete a node of Idle
	Multi
	OpenSession
	CloseSession // with all its ephemeral nodes, on request or by expiry
	// Refuse changes nothing. It gives a write that was refused on the way
	// here its place in the order, as ZooKeeper does.
	Refuse
)

// A Mode is what kind of node to create; the bits combine.
type Mode uint8

const (
	Ephemeral Mode = 1 << iota
	Sequential
	Container // goes after its last child
	Expiring  // goes when it has no children and was not written for its TTL
)

// A Result is what a transaction came to. Every transaction has a zxid of its
// own, also one that failed.
type Result struct {
	Zxid int64
	OpResult
	Ops []OpResult // for Multi; valid until the next Apply
}

// An OpResult is what an operation came to.
type OpResult struct {
	Err  wire.Err
	Path string    // the path that was created
	Stat wire.Stat // after Create and SetData
}

// An Event is a change that a watch can tell of.
type Event struct {
	Type int32 // wire.EventCreated and so on
	Path string
	Node *Node // that has the path, or had it: only who may read it may know
}
