package tree

import "github.com/stampede-bench/stampede/drivers/wire"

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
