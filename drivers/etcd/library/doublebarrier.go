package library

import (
	"context"

	recipe "go.etcd.io/etcd/client/v3/experimental/recipes"

	"github.com/stampede-bench/stampede/drivers"
)

// A DoubleBarrier is [recipe.DoubleBarrier]: keys on the lease, waiters/TIME, and one
// key without a lease, ready, which the last client to leave removes.
//
// A waiting client watches from an old revision: to enter, from that of its own key; to leave,
// from the create revision of the lowest key (v3.7.3, double_barrier.go:94, 150 and 166). If
// etcd has compacted that revision, the watch ends immediately. Enter takes this for the
// opening, so its caller enters before all clients have arrived. Leave checks again and
// watches from the same revision again, without a pause, until that key is gone: if clients
// stay inside for longer than etcd keeps history, leaving is a busy loop.
type DoubleBarrier struct {
	*canceler
	path    string
	clients int
	barrier *recipe.DoubleBarrier
	end     context.CancelFunc
}

// Enter blocks until all clients have arrived. If it fails it removes the client's key.
func (b *DoubleBarrier) Enter(ctx context.Context) (inside context.Context, err error) {
	session, err := b.concurrency()
	if err != nil {
		return nil, b.session.Failed("enter", b.path, err)
	}
	b.barrier = recipe.NewDoubleBarrier(session, b.session.Keys.Dir(b.path), b.clients)
	if err := b.do(ctx, b.barrier.Enter); err != nil {
		b.session.cleanUp(ctx, b.path)
		return nil, b.session.Failed("enter", b.path, err)
	}
	inside, b.end = drivers.Bound(ctx, b.session)
	return inside, nil
}

// Leave blocks until all clients want to leave. If it fails the client has left.
func (b *DoubleBarrier) Leave(ctx context.Context) error {
	b.end()
	if err := b.do(ctx, b.barrier.Leave); err != nil {
		b.session.cleanUp(ctx, b.path)
		return b.session.Failed("leave", b.path, err)
	}
	return nil
}
