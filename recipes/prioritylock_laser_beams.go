package recipes

import (
	"context"
	"path"
	"sync/atomic"
	"time"

	"github.com/stampede-bench/stampede/drivers"
)

// A LaserBeamPriorityLock is a [PriorityLock] that a more urgent client takes
// without the holder's consent: it asks the less urgent holders, waits for a
// fixed time and deletes the nodes of those that have not released the lock. A
// deposed holder is notified by Revoked, if it listens, and at the latest by
// Release. Until then it believes that it holds the lock, and only its fencing
// token shows that it does not.
// Cost: N writers, each more urgent than those before, one turn each: no
// notifications, 5N−3 reads, 5N−2 writes, N−1 of which fail: a deposed holder's
// release, and before it 1 read if it listens.
type LaserBeamPriorityLock struct {
	*PriorityLock
	patience time.Duration
	deposed  atomic.Int64
}

// NewLaserBeamPriorityLock returns the lock at dir, an existing node without
// data. Holders have the time patience to release the lock after a request.
func NewLaserBeamPriorityLock(conn drivers.Conn, dir string, patience time.Duration) *LaserBeamPriorityLock {
	l := &LaserBeamPriorityLock{PriorityLock: NewPriorityLock(conn, dir), patience: patience}
	l.insist = l.depose
	return l
}

// depose waits for the holders to release the lock, and deletes the nodes of
// those that still hold it.
func (l *LaserBeamPriorityLock) depose(ctx context.Context, holders []string) error {
	if err := drivers.Pause(ctx, l.patience); err != nil {
		return err
	}
	for _, holder := range holders {
		deleted, err := burn(ctx, l.conn, path.Join(l.dir, holder))
		if err != nil {
			return err
		}
		if deleted {
			l.deposed.Add(1)
		}
	}
	return nil
}

// Deposed returns how many holders this client has deposed so far. It includes
// those that may have released the lock themselves when the reply was lost.
func (l *LaserBeamPriorityLock) Deposed() int64 { return l.deposed.Load() }
