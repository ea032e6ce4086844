package drivers

// A Probe sees every message of one session on the wire, below the client library, so
// that neither a driver nor a library form on top of it can hide one. The goroutines that
// send and receive call Message. It must be quick and must not call the Conn. It sees
// requests before they are sent, and replies and notifications before the client library
// reads them, each in the order of the connection.
type Probe interface {
	Message(m Message)
}

// A Message is one packet of a session. It carries only what counting needs. Path and Parts are
// only valid during the call.
type Message struct {
	// Path is the node concerned, as the server names it (with any chroot). A reply has
	// the path of its request, but the reply to a Create that succeeded has the created
	// path. Replies to reads that arm no watch may have an empty path.
	Path []byte
	// Parts are the operations of a transaction with several, in their order. Op, and Path if there
	// is one, are then those of the single operation as which the transaction is counted.
	Parts []TxnOp
	// Err is nil or one of this package's sentinels; errors that have no sentinel are
	// ErrUnsupported. Only replies have it. An exists that found no node has ErrNoNode.
	Err error
	// Pos is a position. A reply to a write has the position of the write, a reply to a
	// read that of the last write that the read can have seen. A notification has that of
	// the change, or 0 if the server does not report it.
	Pos int64
	// Size is the packet's length on the wire in bytes.
	Size int
	Kind MessageKind
	// Op is the operation asked for. A reply has the Op, Watch and Mode of its
	// request.
	Op Op
	// Watch reports whether the request arms a watch.
	Watch bool
	// Mode is the mode of the node that a Create makes.
	Mode Mode
	// Event is the change that a notification reports. The reply to a library's watch
	// (OpOther) has ChildrenChanged if the watch waits for that.
	Event EventType
	// Digest is equal for two replies to the same read if they returned the same; 0 where it is
	// unknown. Only sources of other programs' traffic set it. It means nothing outside the
	// connection.
	Digest uint64
}

// A TxnOp is one operation of a transaction. Its fields are those of a [Message] of the operation
// alone. In the reply to a transaction that failed, each write has an error: ErrUnsupported if
// another part is known to be the reason.
type TxnOp struct {
	Path []byte
	Err  error
	Op   Op
	Mode Mode
}

// A MessageKind says whether a message is a request, a reply or a notification.
type MessageKind uint8

const (
	Request MessageKind = iota + 1
	Reply
	Notification
	// Cut is not a packet: the connection broke, and requests without a reply will get
	// none.
	Cut
)

// An Op is an operation on the wire, named after the methods of [Conn].
type Op uint8

const (
	OpOther Op = iota // none of the following, e.g. credentials
	OpCreate
	OpDelete
	OpSet
	OpExists
	OpGet
	OpChildren
	OpSync
	OpMulti
	OpPing      // heartbeats
	OpOpen      // session establishment
	OpClose     // session end, which removes its ephemeral nodes
	OpRearm     // watches set again after a reconnect
	OpWatchNode // a [PersistentWatcher]'s watch on one node
	OpWatchTree // a [PersistentWatcher]'s watch on a node and all below it
	OpFlush     // a [Flusher]'s read, which is not counted
)

// IsRead reports whether the operation is one of the contract's reads.
func (o Op) IsRead() bool { return o == OpExists || o == OpGet || o == OpChildren }

// IsWrite reports whether the operation is one of the contract's writes.
func (o Op) IsWrite() bool {
	return o == OpCreate || o == OpDelete || o == OpSet || o == OpMulti
}

// IsWatch reports whether the operation arms a persistent watch and does nothing else.
func (o Op) IsWatch() bool { return o == OpWatchNode || o == OpWatchTree }

var opNames = [...]string{"other", "create", "delete", "set", "exists", "get", "children",
	"sync", "multi", "ping", "open", "close", "rearm", "watch node", "watch tree", "flush"}

func (o Op) String() string { return opNames[o] }
