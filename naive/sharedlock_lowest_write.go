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
	"github.com/stampede-bench/stampede/drivers/claim"
)

// A LowestWriteSharedLock is held by one writer or by any number of readers at a
// time. Clients stand in line, as sequential ephemeral nodes; a writer watches
// the node right ahead of its own, but a reader the lowest writer's, so the
// release of every writer wakes all readers behind it, whoever still stands
// between. One LowestWriteSharedLock serves one goroutine.
// Cost: W writers, then R readers, N in all, one turn each: RW+W−1
// notifications, N+2(RW+W−1) reads, 2N writes; a release wakes up to R+1.
type LowestWriteSharedLock struct {
	conn  drivers.Conn
	dir   string
	read  *claim.Claim
	write *claim.Claim
	node  *claim.Claim // read or write
	end   context.CancelFunc
}

// NewLowestWriteSharedLock returns the shared lock at dir, a node that is there already.
func NewLowestWriteSharedLock(conn drivers.Conn, dir string) *LowestWriteSharedLock {
	return &LowestWriteSharedLock{
		conn:  drivers.Steady(conn),
		dir:   dir,
		read:  claim.InLine(conn, dir, "read-"),
		write: claim.InLine(conn, dir, "write-"),
		end:   func() {},
	}
}

// AcquireRead is as [SharedLock.AcquireRead].
func (l *LowestWriteSharedLock) AcquireRead(ctx context.Context) (held context.Context, err error) {
	return l.acquire(ctx, l.read)
}

// AcquireWrite is as [SharedLock.AcquireWrite].
func (l *LowestWriteSharedLock) AcquireWrite(ctx context.Context) (held context.Context, err error) {
	return l.acquire(ctx, l.write)
}

func (l *LowestWriteSharedLock) acquire(ctx context.Context, node *claim.Claim) (held context.Context, err error) {
	l.node = node
	if err := l.wait(ctx); err != nil {
		return nil, fmt.Errorf("acquire shared lock %s: %w", l.dir, errors.Join(err, l.node.Abandon(ctx)))
	}
	held, l.end = drivers.Bound(ctx, l.conn)
	return held, nil
}

func (l *LowestWriteSharedLock) wait(ctx context.Context) error {
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
		// 3. A writer with nobody ahead, or a reader with no writer ahead,
		// holds the lock.
		ahead, err := l.ahead(line)
		if err != nil || ahead == "" {
			return err
		}
		// 4. Wait for that one to go, then look again: it may have left others
		// behind.
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

// ahead is the node to wait for, "" if there is none: for a writer the nearest,
// for a reader the lowest writer's.
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

// Token is the fencing token of the holder: a resource that a writer with a
// higher one has used must refuse it.
func (l *LowestWriteSharedLock) Token() int64 { return l.node.Seq() }

// Release is as [SharedLock.Release].
func (l *LowestWriteSharedLock) Release(ctx context.Context) error {
	l.end()
	if err := l.node.Remove(ctx); err != nil {
		return fmt.Errorf("release shared lock %s: %w", l.dir, err)
	}
	return nil
}
