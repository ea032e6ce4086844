package etcd

import (
	"context"
	"errors"
	"fmt"
	"math"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/etcd/keys"
)

// ready waits until a call may be sent.
func (c *Conn) ready(ctx context.Context, q *query) error {
	if err := keys.Check(q.path); err != nil {
		return err
	}
	if err := c.latch.Wait(ctx, c.done); err != nil {
		return failed(q.op.String(), q.path, err)
	}
	return nil
}

// do makes a call. If the context ends before the answer, do returns but the call stays in
// flight. A write must not be applied after a later call, so later calls wait for its answer.
func (c *Conn) do(ctx context.Context, q *query) (*pb.TxnResponse, error) {
	if err := c.ready(ctx, q); err != nil {
		return nil, err
	}
	answered := make(chan answer, 1)
	c.pool.do(c.done, func() { answered <- c.exchange(q) })
	select {
	case a := <-answered:
		return a.TxnResponse, c.outcome(q, a.err)
	case <-ctx.Done():
		if q.op.IsWrite() {
			c.latch.Hold()
			go func() { <-answered; c.latch.Release() }()
		}
		return nil, failed(q.op.String(), q.path, context.Cause(ctx))
	case <-c.done:
		return nil, failed(q.op.String(), q.path, drivers.ErrSessionLost)
	}
}

type answer struct {
	*pb.TxnResponse
	err error
}

// exchange sends the query and receives the answer. It does so again if the read has to be
// repeated: see [query.answer].
func (c *Conn) exchange(q *query) answer {
	ctx := q.attach(c.library.Ctx())
	when := q.when
	if q.op.IsWrite() {
		q.version = c.version.Load()
		when = append([]clientv3.Cmp{c.alive(q.version)}, when...)
	}
	for {
		resp, err := c.ask(ctx, q, when)
		if err != nil || !q.repeated {
			return answer{resp, err}
		}
	}
}

// ask sends the query once. A read of one range needs no transaction. Neither does the first
// attempt at a list: a node that has children exists.
func (c *Conn) ask(ctx context.Context, q *query, when []clientv3.Cmp) (*pb.TxnResponse, error) {
	switch {
	case q.one != nil:
		return nil, c.lookUp(ctx, q)
	case q.op == drivers.OpChildren && !q.repeated:
		return nil, c.list(ctx, q)
	}
	resp, err := c.library.Txn(ctx).If(when...).Then(q.then...).Else(q.other...).Commit()
	return (*pb.TxnResponse)(resp), err
}

// lookUp reads the single range that the query asks for.
func (c *Conn) lookUp(ctx context.Context, q *query) error {
	q.one.Serializable = c.atHand(q)
	return c.library.ActiveConnection().Invoke(ctx, pb.KV_Range_FullMethodName, q.one, new(pb.RangeResponse),
		grpc.MaxCallRecvMsgSize(math.MaxInt32))
}

// atHand reports whether the connected member may answer from its own state. A repeated read
// must not be older than its watch.
func (c *Conn) atHand(q *query) bool { return c.serializable && !q.repeated && q.op.IsRead() }

// outcome returns the error of a call.
func (c *Conn) outcome(q *query, err error) error {
	switch {
	case err == nil && (q.verdict == nil || q.op == drivers.OpExists):
		return nil
	case err == nil:
		err = q.verdict
		if errors.Is(err, errOusted) && q.version == c.version.Load() {
			c.tap.cut(c.tap.broke()) // another client wrote the session's key: write it again
		}
	case code(err) == codes.Canceled:
		err = drivers.ErrSessionLost
	}
	f := failed(q.op.String(), q.path, err)
	if errors.Is(f, drivers.ErrSessionLost) {
		c.lose(drivers.SessionLost)
	}
	return f
}

// A pool is a set of goroutines that make calls. It grows to the largest number of calls in
// flight. The goroutines are reused because a new one would have to grow its stack for each
// call.
type pool chan func()

// do runs the call on an idle goroutine of the pool, or on a new one.
func (p pool) do(done <-chan struct{}, call func()) {
	select {
	case p <- call:
	default:
		go p.work(done, call)
	}
}

func (p pool) work(done <-chan struct{}, call func()) {
	for {
		call()
		select {
		case call = <-p:
		case <-done:
			return
		}
	}
}

func failed(what, path string, err error) error {
	return &drivers.CallError{Call: what, Path: path, Sentinel: sentinel(err), Cause: explained(err)}
}

// explained returns the error in words. To that of a full store it adds how it gets room.
func explained(err error) error {
	said := plain(err)
	if err == nil || rpctypes.ErrorDesc(err) != rpctypes.ErrorDesc(rpctypes.ErrGRPCNoSpace) {
		return said
	}
	return fmt.Errorf("%w: make room with etcdctl compact and etcdctl defrag, or raise --quota-backend-bytes, and then clear the alarm "+
		"with etcdctl alarm disarm; stampede clean works meanwhile", said)
}

// errCut is the error of what was in flight when the connection broke.
var errCut = status.Error(codes.Unavailable, "the connection broke before the answer")

// errOusted is the error of a write that was sent on a former connection of its session. The
// write was not done.
var errOusted = fmt.Errorf("sent before the session reconnected: %w", drivers.ErrConnectionLoss)

// sentinel returns the contract's error for an error of the library or from the wire, or nil
// if the contract has none for it.
func sentinel(err error) error {
	if ours := contractual(err); ours != nil {
		return ours
	}
	switch code(err) {
	case codes.Unavailable:
		return drivers.ErrConnectionLoss
	case codes.PermissionDenied, codes.Unauthenticated:
		return drivers.ErrRefused
	}
	switch rpctypes.ErrorDesc(err) {
	case rpctypes.ErrorDesc(rpctypes.ErrGRPCLeaseNotFound):
		return drivers.ErrSessionLost
	case rpctypes.ErrorDesc(rpctypes.ErrGRPCAuthFailed), rpctypes.ErrorDesc(rpctypes.ErrGRPCUserEmpty):
		return drivers.ErrRefused
	}
	return nil
}

// contractual returns the sentinel that the error already matches, or nil.
func contractual(err error) error {
	for _, s := range []error{
		drivers.ErrNoNode, drivers.ErrNodeExists, drivers.ErrBadVersion, drivers.ErrNotEmpty,
		drivers.ErrNoChildrenForEphemerals, drivers.ErrConnectionLoss, drivers.ErrSessionLost,
		drivers.ErrUnsupported, drivers.ErrRefused,
	} {
		if errors.Is(err, s) {
			return s
		}
	}
	return nil
}

// code returns an error's gRPC code, also where the library has wrapped it in an error of its
// own.
func code(err error) codes.Code {
	var library rpctypes.EtcdError
	switch {
	case err == nil:
		return codes.OK
	case errors.As(err, &library):
		return library.Code()
	case errors.Is(err, context.Canceled):
		return codes.Canceled
	}
	return status.Code(err)
}

// reread reads what a watch covers. It is called when the server has compacted the events that
// the watch missed while the session was disconnected.
func (c *Conn) reread(w *watch) {
	q := &query{op: drivers.OpOther, path: w.path, then: []clientv3.Op{c.count("/")}}
	if w.node != "" {
		q.then[0] = clientv3.OpGet(w.node, metadata()...)
	}
	if w.below != "" {
		q.then = append(q.then, clientv3.OpGet(w.below, clientv3.WithPrefix(), clientv3.WithKeysOnly()))
	}
	a := c.exchange(q)
	c.watches.caughtUp(w, a.TxnResponse, a.err)
}

// caughtUp fires the watch if the read shows a change. Otherwise it watches from the revision
// of the read. It misses a child that was created and deleted in between. If the read failed,
// the connection is broken, and all watches are resumed on the next connection.
func (s *watcher) caughtUp(w *watch, read *pb.TxnResponse, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rereads--
	s.advance()
	if err != nil || w.phase != armed || s.stream == nil {
		return
	}
	if what := w.changeSince(read); what != 0 {
		s.fire(w, early{event: drivers.Event{Type: what, Path: w.path}, size: size(read)})
		return
	}
	w.read = w.sight(read)
	s.cancel(w) // the server keeps a watch that it has given up until the client cancels it
	s.resume(w)
}

// sight returns what the new read shows.
func (w *watch) sight(r *pb.TxnResponse) sight {
	seen := sight{revision: r.Header.Revision, found: first(r, 0) != nil}
	if w.below != "" {
		seen.children = len(r.Responses[1].GetResponseRange().GetKvs())
	}
	return seen
}

// changeSince returns the change that a new read shows since the last one, or 0.
func (w *watch) changeSince(r *pb.TxnResponse) drivers.EventType {
	node := first(r, 0)
	anew := node != nil && node.CreateRevision > w.read.revision
	switch {
	case w.node == "": // the root is never created or deleted
	case w.read.found && (node == nil || anew):
		return drivers.Deleted
	case anew:
		return drivers.Created
	}
	if w.below == "" {
		if node != nil && node.ModRevision > w.read.revision {
			return drivers.DataChanged
		}
		return 0
	}
	children := r.Responses[1].GetResponseRange().GetKvs()
	changed := len(children) != w.read.children
	for _, child := range children {
		changed = changed || child.CreateRevision > w.read.revision
	}
	if changed {
		return drivers.ChildrenChanged
	}
	return 0
}
