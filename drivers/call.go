package drivers

import (
	"context"
	"errors"
)

// A Call is one call of a [Conn], without a watch, as a value.
type Call struct {
	Op      Op // OpGet, OpChildren, OpSet, OpCreate, OpDelete or OpMulti
	Path    string
	Data    []byte // of a Set or Create
	Version int32  // of a Set or Delete
	Mode    Mode   // of a Create
	Sets    []Call // of a Multi, which is a SetAll
}

// An Answer is the result of a Call.
type Answer struct {
	Stat     Stat   // of a Get or Set
	Stats    []Stat // of a Multi
	Children int    // number of children that a Children listed
	Err      error
}

// Do makes the call and waits for its answer.
func (c Call) Do(ctx context.Context, conn Conn) (a Answer) {
	switch c.Op {
	case OpGet:
		_, a.Stat, a.Err = conn.Get(ctx, c.Path, nil)
	case OpChildren:
		var all []Child
		all, a.Err = conn.Children(ctx, c.Path, nil)
		a.Children = len(all)
	case OpSet:
		a.Stat, a.Err = conn.Set(ctx, c.Path, c.Data, c.Version)
	case OpCreate:
		_, a.Err = conn.Create(ctx, c.Path, c.Data, c.Mode)
	case OpDelete:
		a.Err = conn.Delete(ctx, c.Path, c.Version)
	case OpMulti:
		if t, ok := conn.(Transactor); ok {
			a.Stats, a.Err = t.SetAll(ctx, c.Sets)
		} else {
			a.Err = ErrUnsupported
		}
	default:
		a.Err = ErrUnsupported
	}
	return a
}

// A Pipeliner is a Conn on which one goroutine can keep several calls in flight. The
// goroutine begins the calls and awaits them in the same order, which is the order of
// their answers.
type Pipeliner interface {
	Conn
	// Begin begins a call. While the session is disconnected, Begin waits, as any call
	// does. A call that has begun may not be sent before a call is awaited. Each call
	// that has begun must be awaited exactly once.
	Begin(ctx context.Context, c Call) Pending
}

// A Pending is a call that has begun.
type Pending interface {
	// Await waits for the answer, as the call would. It must be called only once.
	Await(ctx context.Context) Answer
}

// Failed returns a Pending whose answer is err.
func Failed(err error) Pending { return failedCall{err} }

type failedCall struct{ err error }

func (f failedCall) Await(context.Context) Answer { return Answer{Err: f.err} }

// A CallError is the error of a call. It has what was attempted, the sentinel of the
// contract that the error stands for, and the client library's own error. Both errors
// match with errors.Is.
type CallError struct {
	Call     string // what was attempted: "create"
	Path     string
	Sentinel error // nil where the contract has none for it
	Cause    error
}

func (e *CallError) Error() string {
	why := e.Cause
	if e.Sentinel != nil {
		why = e.Sentinel
	}
	return e.Call + " " + e.Path + ": " + why.Error()
}

// Unwrap returns the sentinel, if there is one, and the cause.
func (e *CallError) Unwrap() []error {
	if e.Sentinel == nil {
		return []error{e.Cause}
	}
	return []error{e.Sentinel, e.Cause}
}

// The errors of the contract. A driver wraps the error of its client library, so that
// both match with errors.Is.
var (
	ErrNoNode                  = errors.New("no such node")
	ErrNodeExists              = errors.New("node exists")
	ErrBadVersion              = errors.New("version does not match")
	ErrNotEmpty                = errors.New("node has children")
	ErrNoChildrenForEphemerals = errors.New("ephemeral nodes have no children")
	// ErrConnectionLoss: the connection broke. The session may live on, and the request
	// may have been executed.
	ErrConnectionLoss = errors.New("connection lost")
	// ErrSessionLost: the session has ended, by expiry or by Close; its
	// ephemeral nodes are gone or will go.
	ErrSessionLost = errors.New("session lost")
	// ErrUnsupported: this backend, or this client of it, does not support the operation.
	ErrUnsupported = errors.New("not supported here")
	// ErrInDoubt: a write was executed or not, and the client cannot find out, because
	// another client may have removed the node that the write made or removed. Repeating
	// the write could execute it twice.
	ErrInDoubt = errors.New("done or not, and no way to tell")
	// ErrRefused: the service does not permit this with the given credentials.
	ErrRefused = errors.New("not permitted")
	// ErrNotOneService: the addresses that were given as those of one service are of several.
	ErrNotOneService = errors.New("the addresses are of several services")
)

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
	// is one, are then those of the single operation as which the transaction is counted. The request of a
	// session of ZooKeeper to arm its watches again has a part for each, with the operation that armed it.
	Parts []TxnOp
	// Err is nil or one of this package's sentinels; errors that have no sentinel are
	// ErrUnsupported. Only replies have it. An exists that found no node has ErrNoNode.
	Err error
	// Pos is a position. A reply to a write has the position of the write, a reply to a
	// read that of the last write that the read can have seen. A notification has that of
	// the change, or 0 if the server does not report it. A request that arms a watch of etcd has that of the
	// first change that it asks for, or 0 for the next one. The reply has that at which the watch stands: what
	// notifications of it report up to there was written before. Such a change wakes the client only if it is later
	// than the state that the client knew, by an answer or an earlier watch; else it is history.
	Pos int64
	// Size is the packet's length on the wire in bytes.
	Size int
	Kind MessageKind
	// Op is the operation asked for. A reply has the Op, Watch and Mode of its
	// request.
	Op Op
	// Watch reports whether the request arms a watch, and Alone whether its connection carries nothing else from
	// then on.
	Watch, Alone bool
	// Number tells the watches of a connection to etcd apart, from 1: several may be on the same path, and each of them
	// notifies. Its notifications have it, the reply that arms it, and the one that ends it. It is 0 where a path has one
	// watch.
	Number int
	// Mode is the mode of the node that a Create makes.
	Mode Mode
	// Event is the change that a notification reports. The reply to a library's watch
	// (OpOther) has ChildrenChanged if the watch waits for that.
	Event EventType
	// Removes has the kinds of watches that a request to remove watches names, and its reply: AnyWatch, or some. The reply
	// (OpUnwatch with Watch) that ends one watch of etcd has the kind of that. It has an error if the service could not send
	// the changes asked for: a watch of etcd from a revision that was compacted is confirmed and then refused.
	Removes WatchKinds
	// Digest is equal for two replies to the same read if they returned the same; 0 where it is
	// unknown. Only sources of other programs' traffic set it. It means nothing outside the
	// connection.
	Digest uint64
	// Shown is what a reply shows of nodes, by each read that was executed: of a transaction of etcd, those of the branch
	// that was. Only sources of other programs' traffic set it. Like Path it is valid only during the call.
	Shown []Sight
}

// WatchKinds is a set of kinds of watches on a path.
type WatchKinds uint8

// The kinds of watches, by the operations that arm them.
const (
	DataWatch     WatchKinds = 1 << iota // OpExists and OpGet
	ChildrenWatch                        // OpChildren
	NodeWatch                            // OpWatchNode
	TreeWatch                            // OpWatchTree

	AnyWatch = DataWatch | ChildrenWatch | NodeWatch | TreeWatch
)

// Has reports whether the set has any of the kinds.
func (k WatchKinds) Has(any WatchKinds) bool { return k&any != 0 }

// A Sight is what the answer to a read shows of a node, or of those below it: of ZooKeeper's the children, of etcd's keys all
// that the path is a prefix of. An answer that leaves out some of them, by a limit or a filter, shows none of them.
type Sight struct {
	Path   []byte
	Pos    int64 // of the last write that the answer can have seen
	Below  bool  // it shows the nodes below the path
	Values bool  // it shows their data, else only which of them there are
}

// A StreamProbe is a Probe that also sees what a stream with several watches carries, as those of etcd do, and not
// only what the driver makes of it. Stream is called as Message is.
type StreamProbe interface {
	Probe
	Stream(e StreamEvent)
}

// A StreamEvent is a part of what a stream says of one of its watches.
type StreamEvent struct {
	Kind   StreamKind
	Watch  int64     // number of the watch; of StreamProgress none
	Path   string    // what the watch covers, or what has changed
	Covers Cover     // of StreamArmed
	Event  EventType // of StreamChanged
	Pos    int64     // of the change, or up to which all changes have been reported; of StreamArmed from which on they will be
	Now    bool      // of StreamArmed: it was asked for from now on, and may also report changes shortly before Pos
}

// A StreamKind is what a [StreamEvent] says.
type StreamKind uint8

// The kinds of a [StreamEvent].
const (
	StreamArmed    StreamKind = iota + 1
	StreamChanged             // a change that the watch covers
	StreamProgress            // all changes up to a position have been reported, on all watches
	StreamDisarmed
	StreamEnded // and all its watches; the connection may last
)

// A Cover is what a watch of a stream covers, with respect to its path.
type Cover uint8

// The zero Cover is any other range.
const (
	CoversNode     Cover = iota + 1 // the path alone
	CoversChildren                  // the children of the path
)

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
	OpUnwatch   // watches removed
	OpFlush     // a [Flusher]'s read, which is not counted
)

// IsRead reports whether the operation is one of the contract's reads.
func (o Op) IsRead() bool { return o == OpExists || o == OpGet || o == OpChildren }

// IsWrite reports whether the operation is one of the contract's writes.
func (o Op) IsWrite() bool {
	return o == OpCreate || o == OpDelete || o == OpSet || o == OpMulti
}

// Change returns the change that the operation alone makes of its node, 0 if it makes none.
func (o Op) Change() EventType {
	switch o {
	case OpCreate:
		return Created
	case OpSet:
		return DataChanged
	case OpDelete:
		return Deleted
	}
	return 0
}

// IsWatch reports whether the operation arms a persistent watch and does nothing else.
func (o Op) IsWatch() bool { return o == OpWatchNode || o == OpWatchTree }

var opNames = [...]string{"other", "create", "delete", "set", "exists", "get", "children",
	"sync", "multi", "ping", "open", "close", "rearm", "watch node", "watch tree", "unwatch", "flush"}

func (o Op) String() string { return opNames[o] }
