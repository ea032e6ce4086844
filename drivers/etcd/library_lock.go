package etcd

import (
	"context"
	"errors"

	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/stampede-bench/stampede/drivers"
)

// A libraryLock is [concurrency.Mutex]. Its keys are children of the path, named by the lease.
type libraryLock struct {
	conn  *Conn
	path  string
	mutex *concurrency.Mutex // nil unless it is held
	end   context.CancelFunc
}

func (c *Conn) libraryLock(path string) *libraryLock { return &libraryLock{conn: c, path: path} }

// Acquire blocks until the lock is held. If it fails it removes what the library may have left
// behind.
func (l *libraryLock) Acquire(ctx context.Context) (context.Context, error) {
	mutex, err := l.lock(ctx)
	if err != nil {
		return nil, failed("acquire", l.path, err)
	}
	l.mutex = mutex
	held, end := drivers.Bound(ctx, l.conn)
	l.end = end
	return held, nil
}

func (l *libraryLock) lock(ctx context.Context) (*concurrency.Mutex, error) {
	if err := l.conn.gate.pass(ctx, l.conn.done); err != nil {
		return nil, err
	}
	session, err := l.conn.sessions.of(l.conn)
	if err != nil {
		return nil, err
	}
	mutex := concurrency.NewMutex(session, l.conn.keys.dir(l.path))
	if err := mutex.Lock(ctx); err != nil {
		l.conn.abandon(ctx, l.path)
		return nil, l.conn.ended(ctx, err)
	}
	return mutex, nil
}

// Token returns the revision at which the lock was seen to be held. It is later than the
// release by the previous holder, and so later than that holder's token.
func (l *libraryLock) Token() int64 {
	if l.mutex == nil {
		return drivers.NoSeq
	}
	return l.mutex.Header().GetRevision()
}

// Release releases the lock. It can be called again if it fails.
func (l *libraryLock) Release(ctx context.Context) error {
	if l.mutex == nil {
		return nil
	}
	l.end()
	err := l.mutex.Unlock(ctx)
	if err != nil && !errors.Is(err, concurrency.ErrLockReleased) {
		return failed("release", l.path, err)
	}
	l.mutex = nil
	return nil
}
