package etcd

import (
	"context"
	"net"
	"sync"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	"github.com/stampede-bench/stampede/drivers"
)

// A tap sees everything that one session, or a library on top of it, puts on
// the wire, as gRPC interceptors and as the dialer beneath them, and tells a
// [drivers.Probe] of it. Sizes are those of the messages with gRPC's five bytes
// before each; what HTTP/2 adds is not in them.
//
// A connection that breaks, for whatever reason, ends everything that was under
// way on it at one moment, which the tap determines: an answer that comes
// through later is dropped.
type tap struct {
	probe  drivers.Probe              // nil: nobody listens
	lose   func(drivers.Message) bool // nil: nothing is lost
	dial   func(ctx context.Context, address string) (net.Conn, error)
	broken func() // what the session does about it
	// through, if set, is what each connection is made to go through.
	through func(net.Conn) net.Conn
	keys    keyspace

	losing sync.Mutex // held while lose is asked

	mu      sync.Mutex // held while the probe is told
	links   map[*link]bool
	breaks  uint64 // how often the connection has broken
	dialing error  // of the last attempt to connect

	seen       atomic.Int64             // the revision of the last answer to a library
	foreigners map[*foreignStream]int64 // streams with watches of libraries, and how far they have got
	advanced   chan struct{}            // closed and replaced when one has got further or ended
}

var cut = drivers.Message{Kind: drivers.Cut}

func newTap(o drivers.Options, keys keyspace, dial func(context.Context, string) (net.Conn, error)) *tap {
	return &tap{
		probe: o.Probe, lose: o.LoseReply, through: o.Through, keys: keys, dial: dial,
		links: map[*link]bool{}, foreigners: map[*foreignStream]int64{}, advanced: make(chan struct{}),
	}
}

// options are what puts the tap beneath the library. The connection is to one
// server at a time, as a session's is on ZooKeeper: the library would otherwise
// spread calls over all of them.
func (t *tap) options() []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithContextDialer(t.link),
		grpc.WithChainUnaryInterceptor(t.unary),
		grpc.WithChainStreamInterceptor(t.stream),
		grpc.WithDisableServiceConfig(),
		// A fixed window: the library would otherwise send a ping with almost
		// every answer, to find out how large it should be.
		grpc.WithInitialWindowSize(window),
		grpc.WithInitialConnWindowSize(window),
	}
}

const window = 1 << 20

// tell must be called with the lock held.
func (t *tap) tell(m drivers.Message) {
	if t.probe != nil {
		t.probe.Message(m)
	}
}

// asked tells of a request and returns how often the connection had broken.
func (t *tap) asked(m drivers.Message) (breaks uint64) {
	m.Kind = drivers.Request
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tell(m)
	return t.breaks
}

// answered tells of a reply. It returns errCut where the answer came too late,
// or is lost on demand.
func (t *tap) answered(m drivers.Message, breaks uint64) error {
	m.Kind = drivers.Reply
	if t.loses(m) {
		t.cut(breaks)
		return errCut
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.breaks != breaks {
		return errCut
	}
	t.tell(m)
	return nil
}

// loses tells whether a reply is to be lost. Answers come on several goroutines,
// and whoever decides is asked about one at a time.
func (t *tap) loses(m drivers.Message) bool {
	t.losing.Lock()
	defer t.losing.Unlock()
	return t.lose != nil && t.lose(m)
}

// notified tells of a notification.
func (t *tap) notified(m drivers.Message) {
	m.Kind = drivers.Notification
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tell(m)
}

func (t *tap) broke() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.breaks
}

// unary is the interceptor of calls with one request and one reply.
func (t *tap) unary(ctx context.Context, method string, request, reply any, cc *grpc.ClientConn,
	invoke grpc.UnaryInvoker, opts ...grpc.CallOption,
) error {
	q := queryOf(ctx)
	ours := q != nil
	if !ours {
		q = t.foreign(request)
	}
	asked := q.message()
	asked.Size = size(request)
	breaks := t.asked(asked)
	err := invoke(ctx, method, request, reply, cc, opts...)
	switch code(err) {
	case codes.OK:
	case codes.Unavailable:
		// Whether the server did it is unknown, and it may yet do so. Only
		// what the session does when it reconnects puts an end to that.
		t.cut(breaks)
		return err
	case codes.Canceled:
		return err // the session is over
	default:
		asked.Err = wireError(sentinel(err))
		if lost := t.answered(asked, breaks); lost != nil {
			return lost
		}
		return err
	}
	answer := q.answer(reply)
	answer.Size = size(reply)
	if !ours {
		t.seen.Store(max(t.seen.Load(), answer.Pos))
	}
	return t.answered(answer, breaks)
}

// wireError is how a Message says an error that there is no sentinel for.
func wireError(err error) error {
	if err == nil {
		return drivers.ErrUnsupported
	}
	return err
}

// received tells of bytes that came in and mean nothing to anybody.
func (t *tap) received(bytes int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if bytes > 0 {
		t.tell(drivers.Message{Kind: drivers.Reply, Size: bytes})
	}
}
