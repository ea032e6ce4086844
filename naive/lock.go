package naive

import (
	"context"
	"errors"
	"fmt"
	"path"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/protected"
)

// A Lock is held by one client at a time. Each client tries to create the same
// ephemeral node, and the client that succeeds holds the lock. Every other
// client watches that node, so a release wakes all waiting clients, and one of
// them wins the next race. One Lock serves one goroutine.
// Cost: N clients, one turn each: N(N−1)/2 notifications, N(N−1)/2 reads,
// N(N+3)/2 writes; a release wakes up to N−1.
type Lock struct {
	conn drivers.Conn
	dir  string
	node *protected.Claim
	end  context.CancelFunc
}

// NewLock returns the lock at dir, an existing node.
func NewLock(conn drivers.Conn, dir string) *Lock {
	return &Lock{
		conn: drivers.Steady(conn),
		dir:  dir,
		node: protected.NewSingleNode(conn, path.Join(dir, "lock")),
		end:  func() {},
	}
}

// Acquire waits until this client holds the lock. The context that it returns
// is for the work under the lock: it is canceled when ctx is, by Release, and,
// with cause ErrSessionLost, when the session ends. If Acquire fails, it
// removes its node.
func (l *Lock) Acquire(ctx context.Context) (held context.Context, err error) {
	if err := l.wait(ctx); err != nil {
		return nil, fmt.Errorf("acquire lock %s: %w", l.dir, errors.Join(err, l.node.Abandon(ctx)))
	}
	held, l.end = drivers.Bound(ctx, l.conn)
	return held, nil
}

func (l *Lock) wait(ctx context.Context) error {
	for {
		// 1. Create the one ephemeral node: the client that succeeds holds the
		// lock.
		err := l.node.Create(ctx)
		if !errors.Is(err, drivers.ErrNodeExists) {
			return err
		}
		// 2. Wait, like every other client, for the node to be deleted, then go
		// to step 1 and race again.
		if err := l.await(ctx, "lock"); err != nil {
			return err
		}
	}
}

// await calls exists on the node, with a watch, and waits for the node to be
// deleted. If the node does not exist, await returns immediately.
func (l *Lock) await(ctx context.Context, node string) error {
	var gone drivers.Wait
	_, exists, err := l.conn.Exists(ctx, path.Join(l.dir, node), gone.Fire)
	if err == nil && exists {
		_, err = gone.Await(ctx)
	}
	return err
}

// Token returns NoSeq: a single node that is created again and again has no
// sequence number, so a resource cannot tell an old holder from a new one.
func (l *Lock) Token() int64 { return drivers.NoSeq }

// Release cancels the context that Acquire returned and deletes the node, so
// that another client can hold the lock. If Release fails, it can be called
// again. ErrNoNode means that another client has deleted the node.
func (l *Lock) Release(ctx context.Context) error {
	l.end()
	if err := l.node.Remove(ctx); err != nil {
		return fmt.Errorf("release lock %s: %w", l.dir, err)
	}
	return nil
}
