package naive

import (
	"context"
	"errors"
	"fmt"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/protected"
)

// A DoubleBarrier lets clients in once enough have arrived, and out once all
// want to leave. To enter, a client creates an ephemeral node; to leave, it
// removes the node. Every waiting client watches the list of nodes, so each
// arrival and each departure wakes all waiting clients. One DoubleBarrier
// serves one goroutine, and one path serves one round.
// Cost: N clients that enter and then leave: N² notifications, N(3N+1)/2 reads,
// 3N writes; the first to leave wakes N.
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
	// 1. Create an ephemeral node for this process.
	if err := b.node.Create(ctx); err != nil {
		return err
	}
	for {
		// 2. Get the children (the processes), with a watch.
		var changed drivers.Wait
		processes, err := b.conn.Children(ctx, b.dir, changed.Fire)
		if err != nil {
			return err
		}
		// 3. If there are size processes, store "ready" in the double barrier's
		// node, for clients that list only after the first processes have left.
		if len(processes) >= b.size {
			return b.ready(ctx)
		}
		// 4. Otherwise enter if "ready" is stored there.
		data, _, err := b.conn.Get(ctx, b.dir, nil)
		if err != nil || string(data) == "ready" {
			return err
		}
		// 5. Wait for any child to be created or deleted, then go to step 2.
		if _, err := changed.Await(ctx); err != nil {
			return err
		}
	}
}

// ready stores "ready" as the data of the double barrier's node.
func (b *DoubleBarrier) ready(ctx context.Context) error {
	return drivers.Repeat(ctx, func() error {
		_, err := b.conn.Set(ctx, b.dir, []byte("ready"), drivers.AnyVersion)
		return err
	})
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
	// 1. Delete this process's node, if it exists.
	if err := b.remove(ctx); err != nil {
		return err
	}
	for {
		// 2. Get the children (the processes), with a watch. If none is left,
		// exit.
		var changed drivers.Wait
		left, err := b.conn.Children(ctx, b.dir, changed.Fire)
		if err != nil || len(left) == 0 {
			return err
		}
		// 3. Wait for any child to be created or deleted, then go to step 2.
		if _, err := changed.Await(ctx); err != nil {
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
