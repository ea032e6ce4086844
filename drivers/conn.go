package drivers

import (
	"context"
	"fmt"
)

// A Conn is one client session with a coordination service. Several goroutines may call
// its methods at the same time.
//
// Paths are absolute and slash-separated, like ZooKeeper's. Every call blocks until it is
// answered, the context ends or the session is lost, whichever comes first. While the
// session is disconnected, a call waits for the reconnect; a call that may already have
// been sent fails with [ErrConnectionLoss] instead. After ErrConnectionLoss, or when the
// context ended a call, a write may or may not have happened. An earlier write of the
// same session is never applied after a later call was answered.
//
// Errors match the sentinels of this package with errors.Is; the error of the client
// library stays reachable with errors.As.
type Conn interface {
	// Create makes a node. It returns the node's name (without its parent) and, for a
	// sequential node, its place among its siblings. The name of a sequential node may be
	// the given name with a suffix: use the returned one.
	//
	// ErrNodeExists, ErrNoNode (no parent), ErrNoChildrenForEphemerals.
	Create(ctx context.Context, path string, data []byte, mode Mode) (Child, error)

	// Delete removes a node if it has the given version, or any version with AnyVersion.
	//
	// ErrNoNode, ErrBadVersion, ErrNotEmpty.
	Delete(ctx context.Context, path string, version int32) error

	// Exists reports whether a node exists. A missing node is no error: its watch fires
	// when the node is created.
	Exists(ctx context.Context, path string, w Watch) (Stat, bool, error)

	// Get reads a node. Its watch fires when the data changes or the node is deleted.
	//
	// ErrNoNode, and then no watch is armed.
	Get(ctx context.Context, path string, w Watch) ([]byte, Stat, error)

	// Set writes a node's data if the node has the given version, or any version with
	// AnyVersion, and returns the Stat after the write.
	//
	// ErrNoNode, ErrBadVersion.
	Set(ctx context.Context, path string, data []byte, version int32) (Stat, error)

	// Children lists a node's children in no particular order. Its watch fires when a
	// child is created or deleted, or the node itself is deleted.
	//
	// ErrNoNode, and then no watch is armed.
	Children(ctx context.Context, path string, w Watch) ([]Child, error)

	// Sync returns once this session's reads show every write that was acknowledged to
	// any session before the call.
	Sync(ctx context.Context, path string) error

	// Done returns a channel that is closed when the session is lost or closed: its
	// ephemeral nodes are gone or will go.
	Done() <-chan struct{}

	// Close ends the session, which deletes its ephemeral nodes, and calls every armed
	// Watch with Lost. Closing twice is harmless.
	Close() error
}

// AnyVersion makes Delete and Set ignore the node's version.
const AnyVersion int32 = -1

// A Mode says what kind of node Create makes. The zero Mode is persistent; the bits
// combine.
type Mode uint8

const (
	// Ephemeral nodes end with the session that made them, and have no children.
	Ephemeral Mode = 1 << iota
	// Sequential nodes are ordered among their siblings by their creation.
	Sequential
)

// A Stat describes a node, apart from its data. Positions are places in the service's
// single total order of writes: the zxid on ZooKeeper, the revision on etcd.
type Stat struct {
	Version   int32 // number of changes to the data since the creation
	Created   int64 // position of the write that created the node
	Modified  int64 // position of the last write to its data
	Ephemeral bool  // whether it ends with a session
}

// A Child is a node's name and its place in the order in which its siblings were created:
// the sequence suffix on ZooKeeper, the create revision on etcd. Seq is [NoSeq] if the
// node was not created sequentially, as far as its name shows.
type Child struct {
	Name string
	Seq  int64
}

// NoSeq is the Seq of a child that has no place in an order.
const NoSeq int64 = -1

// A NeighborLister is a Conn that can list two neighboring children of a node without the
// others.
type NeighborLister interface {
	Conn
	// Neighbors lists the child with the given Seq and the sequential child right before
	// it, as far as they exist. It may list other children too. It counts as a Children.
	//
	// ErrNoNode.
	Neighbors(ctx context.Context, path string, seq int64) ([]Child, error)
	// Join is a Create of a sequential node followed by a call of Neighbors for it, and
	// counts as both, but takes one round trip. If one round trip was not enough for the
	// neighbors, Join returns none and counts as a Create only.
	//
	// The errors are those of Create.
	Join(ctx context.Context, path string, data []byte, mode Mode) (made Child, neighbors []Child, err error)
}

// Neighbors calls the method of that name if c is a [NeighborLister], and lists all
// children otherwise.
func Neighbors(ctx context.Context, c Conn, path string, seq int64) ([]Child, error) {
	if n, ok := c.(NeighborLister); ok {
		return n.Neighbors(ctx, path, seq)
	}
	return c.Children(ctx, path, nil)
}

// Join calls the method of that name if c is a [NeighborLister], and otherwise creates the
// node and returns no neighbors.
func Join(ctx context.Context, c Conn, path string, data []byte, mode Mode) (made Child, neighbors []Child, err error) {
	if n, ok := c.(NeighborLister); ok {
		return n.Join(ctx, path, data, mode)
	}
	made, err = c.Create(ctx, path, data, mode)
	return made, nil, err
}

// A Transactor is a Conn that can set several nodes in one transaction.
type Transactor interface {
	Conn
	// SetAll sets all of the nodes or, if it cannot set one of them, none. It is one request, an [OpMulti] with the
	// sets as its Parts. Each Call is a Set, and no two have the same path. SetAll returns the Stat of each node
	// after the transaction, in the order of the sets, which it no longer uses.
	//
	// ErrNoNode, ErrBadVersion.
	SetAll(ctx context.Context, sets []Call) ([]Stat, error)
}

// A Flusher is a Conn that can prove that no notification is outstanding: when Flush
// returns nil, every notification for a write that was acknowledged to any session before
// the call has been handed to its Watch. Flushes have an Op of their own on the wire
// ([OpFlush]) and count neither as reads nor as anything else.
type Flusher interface {
	Flush(ctx context.Context) error
}

// Flush calls the method of that name until the connection lasts until its answer: the leader may
// just have changed. A Conn that is no [Flusher] is ErrUnsupported.
func Flush(ctx context.Context, c Conn) error {
	f, ok := c.(Flusher)
	if !ok {
		return fmt.Errorf("flush: %w", ErrUnsupported)
	}
	return Repeat(ctx, func() error { return f.Flush(ctx) })
}
