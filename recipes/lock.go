package recipes

import (
	"context"
	"errors"
	"fmt"
	"path"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/protected"
)

// A Lock is held by one client at a time. Each client creates a sequential
// ephemeral node, and the client with the lowest sequence number holds the
// lock. Every other client watches only the node with the next lower number, so
// a release wakes one client, which is the next holder. One Lock serves one
// goroutine.
// Cost: N clients, one turn each: N−1 notifications, 3N−2 reads, 2N writes; a
// release wakes 1.
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
		node: protected.NewPlaceWithNeighbors(conn, dir, "lock-"),
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
	// 1. Create a sequential ephemeral node: this client's place in the line.
	if err := l.node.Create(ctx); err != nil {
		return err
	}
	for {
		// 2. Get the children (the line), without a watch. Step 3 needs only
		// this client's node and the one right ahead.
		line, err := l.node.Neighbors(ctx)
		if err != nil {
			return err
		}
		// 3. If no node is ahead of this client's, it holds the lock.
		ahead, err := l.node.Ahead(line)
		if err != nil || ahead == "" {
			return err
		}
		// 4. Wait for the node right ahead, which has the next lower sequence
		// number, to be deleted, then go to step 2: its client may have given
		// up while others were still ahead of it.
		if err := l.await(ctx, ahead); err != nil {
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

// Token returns the holder's fencing token. A resource that has seen a higher
// token must refuse this one.
func (l *Lock) Token() int64 { return l.node.Seq() }

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
