package drivers

// A Probe sees every message of one session as it passes on the wire, from
// beneath the client library: a driver, or a library form on top of it, can
// hide nothing. Message is called from the goroutines that send and receive;
// it must be quick and must not call the Conn. Requests are seen before they
// are sent, replies and notifications before the client library reads them,
// each in the order of the connection.
type Probe interface {
	Message(m Message)
}

// A Message is one packet of a session. It carries what counting needs and no
// more; Path is only valid during the call.
type Message struct {
	// Path is the node concerned, as the server names it (with any chroot).
	// A reply has that of its request, but the reply to a Create that
	// succeeded has the path that was created. Reads that arm no watch may
	// leave it empty in the reply.
	Path []byte
	// Err is nil or one of this package's sentinels; errors it has no
	// sentinel for are ErrUnsupported. Replies only. An exists that found no
	// node has ErrNoNode.
	Err error
	// Pos is a reply's position: of the write itself, or for a read that of
	// the last write which it can have seen. A notification's is that of the
	// change, or 0 where the server does not say.
	Pos int64
	// Size is the packet's length on the wire in bytes.
	Size int
	Kind MessageKind
	// Op is the operation asked for. A reply has the Op, Watch and Mode of its
	// request.
	Op Op
	// Watch says that the request asks to be notified.
	Watch bool
	// Mode is that of the node which a Create asks for.
	Mode Mode
	// Event is the change that a notification tells of. The reply to a
	// library's watch (OpOther) has ChildrenChanged if it waits for that.
	Event EventType
}

// A MessageKind is the direction and part of a message.
type MessageKind uint8

const (
	Request MessageKind = iota + 1
	Reply
	Notification
	// Cut is no packet: the connection broke, and what was asked and not
	// answered will not be.
	Cut
)

// An Op is an operation on the wire, in the words of [Conn].
type Op uint8

const (
	OpOther Op = iota // none of those below, e.g. credentials
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
	OpWatchNode // a [PersistentWatcher]'s watch armed, on one node
	OpWatchTree // and on all below it as well
	OpFence     // a [Fencer]'s read, which nobody counts
)

// IsRead tells whether the operation is one of the contract's reads.
func (o Op) IsRead() bool { return o == OpExists || o == OpGet || o == OpChildren }

// IsWrite tells whether the operation is one of the contract's writes.
func (o Op) IsWrite() bool {
	return o == OpCreate || o == OpDelete || o == OpSet || o == OpMulti
}

// IsWatch tells whether the operation arms a persistent watch and does nothing
// else.
func (o Op) IsWatch() bool { return o == OpWatchNode || o == OpWatchTree }

var opNames = [...]string{"other", "create", "delete", "set", "exists", "get", "children",
	"sync", "multi", "ping", "open", "close", "rearm", "watch node", "watch tree", "fence"}

func (o Op) String() string { return opNames[o] }
