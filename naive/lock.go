package naive

import (
	"context"
	"errors"
	"fmt"
	"path"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/claim"
)

// A Lock is held by one client at a time. Clients race to create one ephemeral
// node, and all who lose watch it, so a release wakes everybody who waits; one
// of them wins the next race. One Lock serves one goroutine.
// Cost: N clients, one turn each: N(N−1)/2 notifications, N(N−1)/2 reads,
// N(N+3)/2 writes; a release wakes up to N−1.
type Lock struct {
	conn drivers.Conn
	dir  string
	node *claim.Claim
	end  context.CancelFunc
}

// NewLock returns the lock at dir, a node that is there already.
func NewLock(conn drivers.Conn, dir string) *Lock {
	return &Lock{
		conn: drivers.Steady(conn),
		dir:  dir,
		node: claim.Sole(conn, path.Join(dir, "lock")),
		end:  func() {},
	}
}

// Acquire returns once the lock is held, with a context to work under: it ends
// with ctx, at Release, and, with cause ErrSessionLost, when the session does.
// If Acquire fails it has given up and left nothing behind.
func (l *Lock) Acquire(ctx context.Context) (held context.Context, err error) {
	if err := l.wait(ctx); err != nil {
		return nil, fmt.Errorf("acquire lock %s: %w", l.dir, errors.Join(err, l.node.Abandon(ctx)))
	}
	held, l.end = drivers.Bound(ctx, l.conn)
	return held, nil
}

func (l *Lock) wait(ctx context.Context) error {
	for {
		// 1. Create the one ephemeral node: who makes it holds the lock.
		err := l.node.Create(ctx)
		if !errors.Is(err, drivers.ErrNodeExists) {
			return err
		}
		// 2. Wait for it to go, like everybody else, then race again.
		if err := l.await(ctx, "lock"); err != nil {
			return err
		}
	}
}

// await returns once the node is gone.
func (l *Lock) await(ctx context.Context, node string) error {
	var gone drivers.Wait
	_, exists, err := l.conn.Exists(ctx, path.Join(l.dir, node), gone.Fire)
	if err == nil && exists {
		_, err = gone.Await(ctx)
	}
	return err
}

// Token is NoSeq: one node that comes and goes has no order, so a resource
// cannot tell an old holder from a new one.
func (l *Lock) Token() int64 { return drivers.NoSeq }

// Release ends the held context, then lets the next one have the lock. It can be
// called again if it fails. ErrNoNode: somebody else has removed the node.
func (l *Lock) Release(ctx context.Context) error {
	l.end()
	if err := l.node.Remove(ctx); err != nil {
		return fmt.Errorf("release lock %s: %w", l.dir, err)
	}
	return nil
}
