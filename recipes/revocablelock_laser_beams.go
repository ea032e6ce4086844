package recipes

import (
	"context"
	"errors"
	"fmt"
	"path"
	"sync/atomic"
	"time"

	"github.com/stampede-bench/stampede/drivers"
)

// A LaserBeamLock is a [RevocableLock] that can be revoked without the holder's
// consent. The client that revokes it asks the holders, waits for a fixed time
// and deletes the nodes of the holders that have not released it. A deposed
// holder is notified by Revoked, if it listens, and at the latest by Release. Until
// then it believes that it holds the lock, and only its fencing token shows
// that it does not. No client waits for a holder that does not respond.
// Cost: as [RevocableLock], and for each deposed holder one more write, a
// failed write at its Release, and one read if it listens.
type LaserBeamLock struct {
	*RevocableLock
	patience time.Duration
	deposed  atomic.Int64
}

// NewLaserBeamLock returns the revocable lock at dir, an existing node. Holders
// have the time patience to release the lock after a request.
func NewLaserBeamLock(conn drivers.Conn, dir string, patience time.Duration) *LaserBeamLock {
	return &LaserBeamLock{RevocableLock: NewRevocableLock(conn, dir), patience: patience}
}

// Revoke takes the lock from all current holders. An Acquire that has been
// granted the lock but has not yet seen it fails with ErrNoNode.
func (l *LaserBeamLock) Revoke(ctx context.Context) error {
	if err := l.revoke(ctx); err != nil {
		return fmt.Errorf("revoke lock %s: %w", l.lock.dir, err)
	}
	return nil
}

func (l *LaserBeamLock) revoke(ctx context.Context) error {
	// 1. Ask the holders to release the lock.
	line, err := l.conn.Children(ctx, l.lock.dir, nil)
	if err != nil {
		return err
	}
	asked := holders(line)
	for _, holder := range asked {
		if err := l.ask(ctx, path.Join(l.lock.dir, holder.Name)); err != nil {
			return err
		}
	}
	if len(asked) == 0 {
		return nil
	}
	// 2. Wait for them to release it.
	if err := drivers.Pause(ctx, l.patience); err != nil {
		return err
	}
	// 3. Delete the nodes of those that still hold it.
	for _, holder := range asked {
		if err := l.depose(ctx, path.Join(l.lock.dir, holder.Name)); err != nil {
			return err
		}
	}
	return nil
}

// depose deletes the node, if it still exists.
func (l *LaserBeamLock) depose(ctx context.Context, node string) error {
	deleted, err := burn(ctx, l.conn, node)
	if deleted {
		l.deposed.Add(1)
	}
	return err
}

// burn deletes the node, if it still exists, and reports whether it may have
// deleted it: not even a lost reply leaves the node there.
func burn(ctx context.Context, conn drivers.Conn, node string) (deleted bool, err error) {
	attempts := 0
	err = drivers.Repeat(ctx, func() error {
		attempts++
		return conn.Delete(ctx, node, drivers.AnyVersion)
	})
	if errors.Is(err, drivers.ErrNoNode) {
		return attempts > 1, nil
	}
	return err == nil, err
}

// Deposed returns how many holders this client has deposed so far. It includes
// those that may have released the lock themselves when the reply was lost.
func (l *LaserBeamLock) Deposed() int64 { return l.deposed.Load() }
