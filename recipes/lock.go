package recipes

import (
	"context"
	"errors"
	"fmt"
	"path"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/claim"
)

// A Lock is held by one client at a time. Clients stand in line, as sequential
// ephemeral nodes, and each watches only the node right ahead of its own, so a
// release wakes one client, and that one holds the lock. One Lock serves one
// goroutine.
// Cost: N clients, one turn each: N−1 notifications, 3N−2 reads, 2N writes; a
// release wakes 1.
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
		node: claim.InLine(conn, dir, "lock-"),
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
	// 1. Create a sequential ephemeral node: a place in the line.
	if err := l.node.Create(ctx); err != nil {
		return err
	}
	for {
		// 2. List the line, without a watch.
		line, err := l.conn.Children(ctx, l.dir, nil)
		if err != nil {
			return err
		}
		// 3. Who has nobody ahead holds the lock.
		ahead, err := l.node.Ahead(line)
		if err != nil || ahead == "" {
			return err
		}
		// 4. Wait for the one ahead to go, then look again: it may have
		// given up with others still ahead of it.
		if err := l.await(ctx, ahead); err != nil {
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

// Token is the fencing token of the holder: a resource that has seen a higher
// one must refuse it.
func (l *Lock) Token() int64 { return l.node.Seq() }

// Release ends the held context, then lets the next one have the lock. It can be
// called again if it fails. ErrNoNode: somebody else has removed the node.
func (l *Lock) Release(ctx context.Context) error {
	l.end()
	if err := l.node.Remove(ctx); err != nil {
		return fmt.Errorf("release lock %s: %w", l.dir, err)
	}
	return nil
}
