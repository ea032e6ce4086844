package naive

import (
	"context"
	"errors"
	"fmt"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/claim"
)

// A DoubleBarrier lets nobody in before enough have come, and nobody out before
// all want to leave. Each who comes makes an ephemeral node, each who leaves
// removes it, and all who wait watch all nodes, so whoever comes or leaves wakes
// everybody who waits. One DoubleBarrier serves one goroutine, and one path
// serves one round.
// Cost: N clients that enter and then leave: N² notifications, N(3N+1)/2 reads,
// 3N writes; the first to leave wakes N.
type DoubleBarrier struct {
	conn drivers.Conn
	dir  string
	size int
	node *claim.Claim
	end  context.CancelFunc
}

// NewDoubleBarrier returns the double barrier at dir, a node that is there
// already, of so many clients.
func NewDoubleBarrier(conn drivers.Conn, dir string, size int) *DoubleBarrier {
	return &DoubleBarrier{
		conn: drivers.Steady(conn),
		dir:  dir,
		size: size,
		node: claim.InLine(conn, dir, "process-"),
		end:  func() {},
	}
}

// Enter returns once enough have come, with a context to work under: it ends
// with ctx, at Leave, and, with cause ErrSessionLost, when the session does, and
// then nobody waits for this client any more. If Enter fails it has given up and
// left no node behind.
func (b *DoubleBarrier) Enter(ctx context.Context) (inside context.Context, err error) {
	if err := b.enter(ctx); err != nil {
		return nil, fmt.Errorf("enter double barrier %s: %w", b.dir, errors.Join(err, b.node.Abandon(ctx)))
	}
	inside, b.end = drivers.Bound(ctx, b.conn)
	return inside, nil
}

func (b *DoubleBarrier) enter(ctx context.Context) error {
	// 1. Create a node: one process more.
	if err := b.node.Create(ctx); err != nil {
		return err
	}
	for {
		// 2. List the processes, with a watch.
		var changed drivers.Wait
		processes, err := b.conn.Children(ctx, b.dir, changed.Fire)
		if err != nil {
			return err
		}
		// 3. Who finds them complete says so to those who look too late, when
		// the first have left again.
		if len(processes) >= b.size {
			return b.ready(ctx)
		}
		// 4. Everybody else goes on if somebody has said so.
		data, _, err := b.conn.Get(ctx, b.dir, nil)
		if err != nil || string(data) == "ready" {
			return err
		}
		// 5. Wait for anybody to come or go, then look again.
		if _, err := changed.Await(ctx); err != nil {
			return err
		}
	}
}

// ready makes "ready" the data of the double barrier's node.
func (b *DoubleBarrier) ready(ctx context.Context) error {
	return drivers.Repeat(func() error {
		_, err := b.conn.Set(ctx, b.dir, []byte("ready"), drivers.AnyVersion)
		return err
	})
}

// Leave ends the context that Enter returned, and returns once all want to
// leave. If Leave fails it has given up, and nobody waits for this client.
func (b *DoubleBarrier) Leave(ctx context.Context) error {
	b.end()
	if err := b.leave(ctx); err != nil {
		return fmt.Errorf("leave double barrier %s: %w", b.dir, errors.Join(err, b.node.Abandon(ctx)))
	}
	return nil
}

func (b *DoubleBarrier) leave(ctx context.Context) error {
	// 1. Go.
	if err := b.remove(ctx); err != nil {
		return err
	}
	for {
		// 2. List the processes, with a watch; nobody there: leave.
		var changed drivers.Wait
		left, err := b.conn.Children(ctx, b.dir, changed.Fire)
		if err != nil || len(left) == 0 {
			return err
		}
		// 3. Wait for anybody to go, then look again.
		if _, err := changed.Await(ctx); err != nil {
			return err
		}
	}
}

// remove removes this client's node, if it is there.
func (b *DoubleBarrier) remove(ctx context.Context) error {
	err := b.node.Remove(ctx)
	if errors.Is(err, drivers.ErrNoNode) {
		return nil
	}
	return err
}
