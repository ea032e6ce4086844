package etcd

import (
	"context"
	"errors"
	"math"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

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
	ctx := q.with(c.library.Ctx())
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
		c.lose()
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
