package etcd

import (
	"context"
	"errors"
	"slices"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"

	"github.com/stampede-bench/stampede/drivers"
)

// ready waits until a call may be sent.
func (c *Conn) ready(ctx context.Context, q *query) error {
	if err := checkPath(q.path); err != nil {
		return err
	}
	if err := c.gate.pass(ctx, c.done); err != nil {
		return failed(q.op.String(), q.path, err)
	}
	return nil
}

// do makes a call. If the context ends before the answer, the call goes on
// without its caller: a write must not be applied after a later call, and so
// is waited for by that.
func (c *Conn) do(ctx context.Context, q *query) (*pb.TxnResponse, error) {
	if err := c.ready(ctx, q); err != nil {
		return nil, err
	}
	answered := make(chan answer, 1)
	c.crew.do(c.done, func() { answered <- c.exchange(q) })
	select {
	case a := <-answered:
		return a.TxnResponse, c.outcome(q, a.err)
	case <-ctx.Done():
		if q.op.IsWrite() {
			c.gate.hold()
			go func() { <-answered; c.gate.release() }()
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

// exchange sends the query and receives the answer, twice if the watch which
// the read was to arm began after it.
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

// ask asks once. Who lists first does so plainly: where there are children there
// is a node.
func (c *Conn) ask(ctx context.Context, q *query, when []clientv3.Cmp) (*pb.TxnResponse, error) {
	if q.op == drivers.OpChildren && !q.repeated {
		return nil, c.list(ctx, q)
	}
	resp, err := c.library.Txn(ctx).If(when...).Then(c.consistent(q)...).Else(q.other...).Commit()
	return (*pb.TxnResponse)(resp), err
}

// consistent is what the query does on the condition, as consistent as the
// session's reads are. A read that is repeated is always linearizable: it must
// not be older than the watch.
func (c *Conn) consistent(q *query) []clientv3.Op {
	if !c.serializable || q.repeated || !q.op.IsRead() {
		return q.then
	}
	then := slices.Clone(q.then)
	for i := range then {
		clientv3.WithSerializable()(&then[i])
	}
	return then
}

// outcome is what a call returns.
func (c *Conn) outcome(q *query, err error) error {
	switch {
	case err == nil && (q.verdict == nil || q.op == drivers.OpExists):
		return nil
	case err == nil:
		err = q.verdict
		if errors.Is(err, errOusted) && q.version == c.version.Load() {
			c.tap.cut(c.tap.broke()) // somebody wrote the session's key: do so again
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
