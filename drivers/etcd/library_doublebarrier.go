package etcd

import (
	"context"

	recipe "go.etcd.io/etcd/client/v3/experimental/recipes"

	"github.com/stampede-bench/stampede/drivers"
)

// A libraryDoubleBarrier is [recipe.DoubleBarrier]: keys on the lease, waiters/TIME,
// and one without, ready, which the last to leave removes.
//
// Who waits watches from an old revision: to enter, from that of its own key; to
// leave, from that at which the lowest came (v3.7.3, double_barrier.go:94, 150 and
// 166). Where etcd has forgotten it the watch ends at once. Enter takes that for
// the opening, so that its caller is in before all have come. Leave looks again
// and watches from the same revision again, without a pause, until the lowest has
// gone: where clients stay inside for longer than etcd remembers, leaving is a
// loop at full speed.
type libraryDoubleBarrier struct {
	*loan
	path    string
	clients int
	barrier *recipe.DoubleBarrier
	end     context.CancelFunc
}

func (c *Conn) libraryDoubleBarrier(path string, clients int) *libraryDoubleBarrier {
	return &libraryDoubleBarrier{loan: c.lend(), path: path, clients: clients}
}

// Enter blocks until all clients have come. If it fails it removes the client's
// key.
func (b *libraryDoubleBarrier) Enter(ctx context.Context) (inside context.Context, err error) {
	session, err := b.session()
	if err != nil {
		return nil, failed("enter", b.path, err)
	}
	b.barrier = recipe.NewDoubleBarrier(session, b.conn.keys.dir(b.path), b.clients)
	if err := b.do(ctx, b.barrier.Enter); err != nil {
		b.conn.abandon(ctx, b.path)
		return nil, failed("enter", b.path, err)
	}
	inside, b.end = drivers.Bound(ctx, b.conn)
	return inside, nil
}

// Leave blocks until all clients want to leave. If it fails the client is out.
func (b *libraryDoubleBarrier) Leave(ctx context.Context) error {
	b.end()
	if err := b.do(ctx, b.barrier.Leave); err != nil {
		b.conn.abandon(ctx, b.path)
		return failed("leave", b.path, err)
	}
	return nil
}
