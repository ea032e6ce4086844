package naive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/protected"
)

// A LowestWriteSharedLock is held by one writer or by any number of readers at
// a time. Each client creates a sequential ephemeral node. A writer watches the
// node with the next lower sequence number, but a reader watches the lowest
// writer's node, so each writer's release wakes all readers behind it, even if
// another writer is still ahead of them. One LowestWriteSharedLock serves one
// goroutine.
// Cost: W writers, then R readers, N in all, one turn each: RW+W−1
// notifications, N+2(RW+W−1) reads, 2N writes; a release wakes up to R+1.
type LowestWriteSharedLock struct {
	conn  drivers.Conn
	dir   string
	read  *protected.Claim
	write *protected.Claim
	node  *protected.Claim // read or write
	end   context.CancelFunc
}

// NewLowestWriteSharedLock returns the shared lock at dir, an existing node.
func NewLowestWriteSharedLock(conn drivers.Conn, dir string) *LowestWriteSharedLock {
	return &LowestWriteSharedLock{
		conn:  drivers.Steady(conn),
		dir:   dir,
		read:  protected.NewPlace(conn, dir, "read-"),
		write: protected.NewPlace(conn, dir, "write-"),
		end:   func() {},
	}
}

// AcquireRead is like [SharedLock.AcquireRead].
func (l *LowestWriteSharedLock) AcquireRead(ctx context.Context) (held context.Context, err error) {
	return l.acquire(ctx, l.read)
}

// AcquireWrite is like [SharedLock.AcquireWrite].
func (l *LowestWriteSharedLock) AcquireWrite(ctx context.Context) (held context.Context, err error) {
	return l.acquire(ctx, l.write)
}

func (l *LowestWriteSharedLock) acquire(ctx context.Context, node *protected.Claim) (held context.Context, err error) {
	l.node = node
	if err := l.wait(ctx); err != nil {
		return nil, fmt.Errorf("acquire shared lock %s: %w", l.dir, errors.Join(err, l.node.Abandon(ctx)))
	}
	held, l.end = drivers.Bound(ctx, l.conn)
	return held, nil
}

func (l *LowestWriteSharedLock) wait(ctx context.Context) error {
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
		// 4. Wait for that node to be deleted, then go to step 2: others may
		// still be ahead.
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

// ahead returns the node that this client has to wait for, or "" if there is
// none: for a writer the nearest node, for a reader the lowest writer's.
func (l *LowestWriteSharedLock) ahead(line []drivers.Child) (string, error) {
	if l.node == l.write {
		return l.node.Ahead(line)
	}
	line = slices.DeleteFunc(line, func(other drivers.Child) bool {
		return other.Seq != l.node.Seq() && strings.Contains(other.Name, "-read-")
	})
	ahead, err := l.node.Ahead(line)
	if err != nil || ahead == "" {
		return "", err
	}
	lowest := slices.MinFunc(line, func(a, b drivers.Child) int { return cmp.Compare(a.Seq, b.Seq) })
	return lowest.Name, nil
}

// Token returns the holder's fencing token. A resource that a writer with a
// higher token has used must refuse this one.
func (l *LowestWriteSharedLock) Token() int64 { return l.node.Seq() }

// Release is like [SharedLock.Release].
func (l *LowestWriteSharedLock) Release(ctx context.Context) error {
	l.end()
	if err := l.node.Remove(ctx); err != nil {
		return fmt.Errorf("release shared lock %s: %w", l.dir, err)
	}
	return nil
}
