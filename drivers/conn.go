package drivers

import "context"

// A Conn is one client session with a coordination service. Its methods may be
// called from several goroutines.
//
// Paths are absolute and slash-separated, as ZooKeeper's. Every call blocks
// until it is answered, the context ends or the session is lost, whichever
// comes first; a session that is only disconnected keeps the call waiting for
// the reconnect, or fails it with [ErrConnectionLoss] where it may already have
// been sent. After ErrConnectionLoss, or when the context ended a call, a write
// may or may not have happened; an earlier write of the same session is never
// applied after a later call was answered.
//
// Errors match the sentinels of this package with errors.Is; the error of the
// client library stays reachable with errors.As.
type Conn interface {
	// Create makes a node and returns its name (without its parent) and, for
	// a sequential node, its place among its siblings. A sequential name may
	// be the given one with a suffix: use what is returned.
	//
	// ErrNodeExists, ErrNoNode (no parent), ErrNoChildrenForEphemerals.
	Create(ctx context.Context, path string, data []byte, mode Mode) (Child, error)

	// Delete removes a node that has the version, or any with AnyVersion.
	//
	// ErrNoNode, ErrBadVersion, ErrNotEmpty.
	Delete(ctx context.Context, path string, version int32) error

	// Exists tells whether there is a node. A missing node is no error, and
	// its watch fires when the node is created.
	Exists(ctx context.Context, path string, w Watch) (Stat, bool, error)

	// Get reads a node. Its watch fires when the data changes or the node goes.
	//
	// ErrNoNode, and then no watch is armed.
	Get(ctx context.Context, path string, w Watch) ([]byte, Stat, error)

	// Set writes a node that has the version, or any with AnyVersion, and
	// returns the Stat after the write.
	//
	// ErrNoNode, ErrBadVersion.
	Set(ctx context.Context, path string, data []byte, version int32) (Stat, error)

	// Children lists a node's children in no particular order. Its watch fires
	// when a child comes or goes, or the node itself goes.
	//
	// ErrNoNode, and then no watch is armed.
	Children(ctx context.Context, path string, w Watch) ([]Child, error)

	// Sync returns once this session's reads show every write that was
	// acknowledged to anybody before the call.
	Sync(ctx context.Context, path string) error

	// Done is closed when the session is lost or closed: its ephemeral nodes
	// are gone or will go.
	Done() <-chan struct{}

	// Close ends the session and with it its ephemeral nodes, and fires Lost
	// at every armed watch. Closing twice is harmless.
	Close() error
}

// AnyVersion is the version that every node has.
const AnyVersion int32 = -1

// A Mode is what kind of node Create makes. The zero Mode is persistent; the
// bits combine.
type Mode uint8

const (
	// Ephemeral nodes go with the session that made them and have no children.
	Ephemeral Mode = 1 << iota
	// Sequential nodes are ordered among their siblings by their creation.
	Sequential
)

// A Stat is what a read tells of a node besides its data. Positions are places
// in the service's one total order of writes: zxid on ZooKeeper, revision on etcd.
type Stat struct {
	Version   int32 // number of changes to the data since the creation
	Created   int64 // position of the write that created the node
	Modified  int64 // position of the last write to its data
	Ephemeral bool  // whether it goes with a session
}

// A Child is a name and its place in the order in which siblings were created:
// the sequence suffix on ZooKeeper, the create revision on etcd. Seq is
// [NoSeq] where the name was not created sequentially, as far as can be told.
type Child struct {
	Name string
	Seq  int64
}

// NoSeq is the Seq of a child that has no place in an order.
const NoSeq int64 = -1

// A Fencer is a Conn that can prove a negative: when Fence returns nil, every
// notification for a write acknowledged to anybody before the call has been
// handed to its Watch. Fences are told apart on the wire ([OpFence]) and count
// neither as reads nor as anything else.
type Fencer interface {
	Fence(ctx context.Context) error
}
