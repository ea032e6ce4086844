package recipes

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/protected"
)

// A SharedLock is held by one writer or by any number of readers at a time.
// Each client creates a sequential ephemeral node. A writer watches only the
// node with the next lower sequence number, and a reader only the nearest
// writer's node with a lower number, so a release wakes one writer, or readers
// that can all proceed. One SharedLock serves one goroutine.
// Cost: W writers, then R readers, N in all, one turn each: N−1 notifications,
// 3N−2 reads, 2N writes; a release wakes one writer or up to R readers.
type SharedLock struct {
	conn  drivers.Conn
	dir   string
	read  *protected.Claim
	write *protected.Claim
	node  *protected.Claim // read or write
	end   context.CancelFunc
}

// NewSharedLock returns the shared lock at dir, an existing node.
func NewSharedLock(conn drivers.Conn, dir string) *SharedLock {
	return &SharedLock{
		conn:  drivers.Steady(conn),
		dir:   dir,
		read:  protected.NewPlace(conn, dir, "read-"),
		write: protected.NewPlace(conn, dir, "write-"),
		end:   func() {},
	}
}

// AcquireRead waits until this client holds the lock, together with other
// readers. The context that it returns is for the work under the lock: it is
// canceled when ctx is, by Release, and, with cause ErrSessionLost, when the
// session ends. If AcquireRead fails, it removes its node.
func (l *SharedLock) AcquireRead(ctx context.Context) (held context.Context, err error) {
	return l.acquire(ctx, l.read)
}

// AcquireWrite is like AcquireRead, but this client holds the lock alone.
func (l *SharedLock) AcquireWrite(ctx context.Context) (held context.Context, err error) {
	return l.acquire(ctx, l.write)
}

func (l *SharedLock) acquire(ctx context.Context, node *protected.Claim) (held context.Context, err error) {
	l.node = node
	if err := l.wait(ctx); err != nil {
		return nil, fmt.Errorf("acquire shared lock %s: %w", l.dir, errors.Join(err, l.node.Abandon(ctx)))
	}
	held, l.end = drivers.Bound(ctx, l.conn)
	return held, nil
}

func (l *SharedLock) wait(ctx context.Context) error {
	// 1. Create a sequential ephemeral node: this client's place in the line.
	if err := l.node.Create(ctx); err != nil {
		return err
	}
	for {
		// 2. Get the children (the line), without a watch.
		line, err := l.conn.Children(ctx, l.dir, nil)
		if err != nil {
			return err
		}
		// 3. If no node is ahead of a writer's, or no writer's node is ahead of
		// a reader's, this client holds the lock.
		ahead, err := l.ahead(line)
		if err != nil || ahead == "" {
			return err
		}
		// 4. Wait for the nearest of those nodes to be deleted, then go to step
		// 2: others may still be ahead.
		var gone drivers.Wait
		_, exists, err := l.conn.Exists(ctx, path.Join(l.dir, ahead), gone.Fire)
		if err == nil && exists {
			_, err = gone.Await(ctx)
		}
		if err != nil {
			return err
		}
	}
}

// ahead returns the nearest node that this client has to wait for, or "" if
// there is none.
func (l *SharedLock) ahead(line []drivers.Child) (string, error) {
	if l.node == l.read {
		line = slices.DeleteFunc(line, func(other drivers.Child) bool {
			return other.Seq != l.node.Seq() && strings.Contains(other.Name, "-read-")
		})
	}
	return l.node.Ahead(line)
}

// Token returns the holder's fencing token. A resource that a writer with a
// higher token has used must refuse this one.
func (l *SharedLock) Token() int64 { return l.node.Seq() }

// Release cancels the context that the client acquired and deletes the node, so
// that other clients can hold the lock. If Release fails, it can be called
// again. ErrNoNode means that another client has deleted the node.
func (l *SharedLock) Release(ctx context.Context) error {
	l.end()
	if err := l.node.Remove(ctx); err != nil {
		return fmt.Errorf("release shared lock %s: %w", l.dir, err)
	}
	return nil
}
