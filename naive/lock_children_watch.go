package naive

import (
	"context"
	"errors"
	"fmt"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/protected"
)

// A ChildrenWatchLock is held by one client at a time. Each client creates a
// sequential ephemeral node, and the client with the lowest sequence number
// holds the lock. Every other client watches the list of nodes, so an arrival
// or a release wakes all waiting clients, and each lists the nodes again. One
// ChildrenWatchLock serves one goroutine.
// Cost: N clients, one turn each: N²−N+1 notifications, N²−N+1 reads, 2N
// writes; a release wakes up to N−1.
type ChildrenWatchLock struct {
	conn drivers.Conn
	dir  string
	node *protected.Claim
	end  context.CancelFunc
}

// NewChildrenWatchLock returns the lock at dir, an existing node.
func NewChildrenWatchLock(conn drivers.Conn, dir string) *ChildrenWatchLock {
	return &ChildrenWatchLock{
		conn: drivers.Steady(conn),
		dir:  dir,
		node: protected.NewPlace(conn, dir, "lock-"),
		end:  func() {},
	}
}

// Acquire is like [Lock.Acquire].
func (l *ChildrenWatchLock) Acquire(ctx context.Context) (held context.Context, err error) {
	if err := l.wait(ctx); err != nil {
		return nil, fmt.Errorf("acquire lock %s: %w", l.dir, errors.Join(err, l.node.Abandon(ctx)))
	}
	held, l.end = drivers.Bound(ctx, l.conn)
	return held, nil
}

func (l *ChildrenWatchLock) wait(ctx context.Context) error {
	// 1. Create a sequential ephemeral node: this client's place in the line.
	if err := l.node.Create(ctx); err != nil {
		return err
	}
	for {
		// 2. Get the children (the line), with a watch.
		var changed drivers.Wait
		line, err := l.conn.Children(ctx, l.dir, changed.Fire)
		if err != nil {
			return err
		}
		// 3. If no node is ahead of this client's, it holds the lock.
		ahead, err := l.node.Ahead(line)
		if err != nil || ahead == "" {
			return err
		}
		// 4. Wait for any child to be created or deleted, then go to step 2.
		if _, err := changed.Await(ctx); err != nil {
			return err
		}
	}
}

// Token returns the holder's fencing token. A resource that has seen a higher
// token must refuse this one.
func (l *ChildrenWatchLock) Token() int64 { return l.node.Seq() }

// Release is like [Lock.Release].
func (l *ChildrenWatchLock) Release(ctx context.Context) error {
	l.end()
	if err := l.node.Remove(ctx); err != nil {
		return fmt.Errorf("release lock %s: %w", l.dir, err)
	}
	return nil
}
