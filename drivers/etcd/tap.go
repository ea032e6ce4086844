package etcd

import (
	"context"
	"net"
	"sync"
	"sync/atomic"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/etcd/calls"
	"github.com/stampede-bench/stampede/drivers/etcd/keys"
	"github.com/stampede-bench/stampede/drivers/greeting"
)

// A tap sees everything that one session, or a library on top of it, sends and receives, as
// gRPC interceptors and as the dialer beneath them. It reports the messages to a
// [drivers.Probe]. Sizes are those of the messages with gRPC's five bytes before each, without
// the overhead of HTTP/2.
//
// When a connection breaks, for any reason, the tap ends everything in flight on it at one
// point in time. It drops an answer that arrives after that point.
type tap struct {
	probe  drivers.Probe              // nil: messages are not reported
	lose   func(drivers.Message) bool // nil: no reply is dropped
	dial   func(ctx context.Context, address string) (net.Conn, error)
	broken func() // reports each break to the session
	// through, if set, wraps each connection.
	through func(net.Conn) net.Conn
	keys    keys.Space
	begins  greeting.Protocol // of what a server sends first

	losing sync.Mutex // held during a call of lose

	mu      sync.Mutex // held during a call of the probe
	links   map[*link]bool
	breaks  uint64 // number of times the connection has broken
	dialing error  // error of the last attempt to connect

	seen           atomic.Int64             // revision of the last answer to a library
	libraryStreams map[*libraryStream]int64 // streams with watches of libraries, and the revision that each has reached
	advanced       chan struct{}            // closed and replaced when a stream advances or ends
}

var cut = drivers.Message{Kind: drivers.Cut}

func newTap(o drivers.Options, keys keys.Space, dial func(context.Context, string) (net.Conn, error)) *tap {
	return &tap{
		probe: o.Probe, lose: o.LoseReply, through: o.Through, keys: keys, dial: dial, begins: greeting.Etcd,
		links: map[*link]bool{}, libraryStreams: map[*libraryStream]int64{}, advanced: make(chan struct{}),
	}
}

// options returns the dial options that put the tap beneath the library. They connect to one
// server at a time, as a ZooKeeper session does: otherwise the library would spread calls over
// all servers.
func (t *tap) options() []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithContextDialer(t.link),
		grpc.WithChainUnaryInterceptor(t.unary),
		grpc.WithChainStreamInterceptor(t.stream),
		grpc.WithDisableServiceConfig(),
		// A fixed window: otherwise the library would send a ping with almost every answer, to
		// find out how large the window should be.
		grpc.WithInitialWindowSize(window),
		grpc.WithInitialConnWindowSize(window),
	}
}

const window = 1 << 20

// report passes a message to the probe. The caller holds the lock.
func (t *tap) report(m drivers.Message) {
	if t.probe != nil {
		t.probe.Message(m)
	}
}

// reportRequest reports a request and returns the number of breaks so far.
func (t *tap) reportRequest(m drivers.Message) (breaks uint64) {
	m.Kind = drivers.Request
	t.mu.Lock()
	defer t.mu.Unlock()
	t.report(m)
	return t.breaks
}

// answered reports a reply. It returns errCut if the reply came too late, or if lose drops it.
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
	t.report(m)
	return nil
}

// loses reports whether a reply is to be dropped. Replies arrive on several goroutines; lose
// is asked about one at a time.
func (t *tap) loses(m drivers.Message) bool {
	t.losing.Lock()
	defer t.losing.Unlock()
	return t.lose != nil && t.lose(m)
}

// notified reports a notification.
func (t *tap) notified(m drivers.Message) {
	m.Kind = drivers.Notification
	t.mu.Lock()
	defer t.mu.Unlock()
	t.report(m)
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
		q = t.libraryCall(request)
	}
	asked := q.message()
	asked.Size = size(request)
	breaks := t.reportRequest(asked)
	err := invoke(ctx, method, request, reply, cc, opts...)
	switch code(err) {
	case codes.OK:
	case codes.Unavailable:
		// Whether the server executed the call is unknown, and it may still do so. Only the
		// new session key that a reconnect writes prevents that.
		t.cut(breaks)
		return err
	case codes.Canceled:
		return err // the session has ended
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
	if err := t.answered(answer, breaks); err != nil {
		return err
	}
	if list, ok := q.joined(); ok {
		t.joined(list)
	}
	return nil
}

// joined reports a list whose request and reply were part of another call's, and whose bytes
// count there.
func (t *tap) joined(list drivers.Message) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.report(drivers.Message{Kind: drivers.Request, Op: list.Op, Path: list.Path})
	list.Kind = drivers.Reply
	t.report(list)
}

// wireError returns the error to put into a Message: ErrUnsupported if there is no sentinel.
func wireError(err error) error {
	if err == nil {
		return drivers.ErrUnsupported
	}
	return err
}

// received reports bytes that belong to no call and no notification.
func (t *tap) received(bytes int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if bytes > 0 {
		t.report(drivers.Message{Kind: drivers.Reply, Size: bytes})
	}
}

// libraryCall returns the query for a call that a library made on top of the session, or that
// opens or closes the session. It uses the closest operation of the contract.
func (t *tap) libraryCall(request any) *query {
	c := calls.Classify(request)
	q := &query{op: c.Op, mode: c.Mode}
	if c.Key != nil {
		q.path = t.keys.Path(string(c.Key))
	}
	if _, ok := request.(*pb.TxnRequest); ok {
		q.judge = func(r *pb.TxnResponse) error { return c.Err(r) }
	}
	return q
}
