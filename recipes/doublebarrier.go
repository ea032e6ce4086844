package recipes

import (
	"context"
	"errors"
	"fmt"
	"path"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/protected"
)

// A DoubleBarrier lets clients in once enough have arrived, and out once all
// want to leave. To enter, a client creates an ephemeral node and watches the
// node ready, which the last client to arrive creates; that wakes all clients,
// and all can proceed. To leave, a client removes its node and watches the
// lowest node; the lowest client waits for the others one at a time, so a
// client that leaves early wakes at most one other. One DoubleBarrier serves
// one goroutine, and one path serves one round.
// Cost: N clients that enter and then leave, the last to enter leaving first:
// 2N−1 notifications, 5N−2 reads, 2N+1 writes; the last to enter wakes N.
type DoubleBarrier struct {
	conn drivers.Conn
	dir  string
	size int
	node *protected.Claim
	end  context.CancelFunc
}

// NewDoubleBarrier returns the double barrier at dir, an existing node, for
// size clients.
func NewDoubleBarrier(conn drivers.Conn, dir string, size int) *DoubleBarrier {
	return &DoubleBarrier{
		conn: drivers.Steady(conn),
		dir:  dir,
		size: size,
		node: protected.NewPlace(conn, dir, "process-"),
		end:  func() {},
	}
}

// Enter waits until size clients have arrived. The context that it returns is
// for the work inside the barrier: it is canceled when ctx is, by Leave, and,
// with cause ErrSessionLost, when the session ends; the other clients no longer
// wait for this one then. If Enter fails, it removes its node.
func (b *DoubleBarrier) Enter(ctx context.Context) (inside context.Context, err error) {
	if err := b.enter(ctx); err != nil {
		return nil, fmt.Errorf("enter double barrier %s: %w", b.dir, errors.Join(err, b.node.Abandon(ctx)))
	}
	inside, b.end = drivers.Bound(ctx, b.conn)
	return inside, nil
}

func (b *DoubleBarrier) enter(ctx context.Context) error {
	// 1. Call exists on the node ready, with a watch.
	var ready drivers.Wait
	_, isReady, err := b.conn.Exists(ctx, path.Join(b.dir, "ready"), ready.Fire)
	if err != nil {
		return err
	}
	// 2. Create an ephemeral node for this process. If ready existed, enter.
	if err := b.node.Create(ctx); err != nil || isReady {
		return err
	}
	// 3. Get the children (the processes), without a watch.
	children, err := b.conn.Children(ctx, b.dir, nil)
	if err != nil {
		return err
	}
	// 4. If there are size processes, create ready, which wakes all of them.
	// Otherwise wait for ready to be created.
	if len(processes(children)) >= b.size {
		return b.ready(ctx)
	}
	_, err = ready.Await(ctx)
	return err
}

// ready creates the node ready, unless another client has.
func (b *DoubleBarrier) ready(ctx context.Context) error {
	err := drivers.Repeat(ctx, func() error {
		_, err := b.conn.Create(ctx, path.Join(b.dir, "ready"), nil, 0)
		return err
	})
	if errors.Is(err, drivers.ErrNodeExists) {
		return nil
	}
	return err
}

// Leave cancels the context that Enter returned and waits until all clients
// have called Leave or lost their sessions. If Leave fails, it removes its
// node, so that no client waits for this one.
func (b *DoubleBarrier) Leave(ctx context.Context) error {
	b.end()
	if err := b.leave(ctx); err != nil {
		return fmt.Errorf("leave double barrier %s: %w", b.dir, errors.Join(err, b.node.Abandon(ctx)))
	}
	return nil
}

func (b *DoubleBarrier) leave(ctx context.Context) error {
	for {
		// 1. Get the children (the processes), without a watch. If none is left,
		// exit.
		children, err := b.conn.Children(ctx, b.dir, nil)
		left := processes(children)
		if err != nil || len(left) == 0 {
			return err
		}
		lowest, highest := left[0], left[len(left)-1]
		other := lowest
		switch mine := b.node.Seq(); {
		case mine == lowest.Seq && mine == highest.Seq:
			// 2. If this process is the only one left, delete its node and
			// exit.
			return b.remove(ctx)
		case mine == lowest.Seq:
			// 3. If this process has the lowest node, wait for the highest node
			// to be deleted, then go to step 1.
			other = highest
		default:
			// 4. Otherwise delete this process's node, if it exists, and wait
			// for the lowest node to be deleted, then go to step 1.
			if err := b.remove(ctx); err != nil {
				return err
			}
		}
		var gone drivers.Wait
		_, there, err := b.conn.Exists(ctx, path.Join(b.dir, other.Name), gone.Fire)
		if err == nil && there {
			_, err = gone.Await(ctx)
		}
		if err != nil {
			return err
		}
	}
}

// remove deletes this client's node, if it exists.
func (b *DoubleBarrier) remove(ctx context.Context) error {
	err := b.node.Remove(ctx)
	if errors.Is(err, drivers.ErrNoNode) {
		return nil
	}
	return err
}
