package library

import (
	"context"
	"errors"

	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/stampede-bench/stampede/drivers"
)

// A Lock is [concurrency.Mutex]. Its keys are children of the path, named by the lease.
type Lock struct {
	session *Session
	path    string
	mutex   *concurrency.Mutex // nil unless it is held
	end     context.CancelFunc
}

// Acquire blocks until the lock is held. If it fails it removes what the library may have left
// behind.
func (l *Lock) Acquire(ctx context.Context) (context.Context, error) {
	mutex, err := l.lock(ctx)
	if err != nil {
		return nil, l.session.Failed("acquire", l.path, err)
	}
	l.mutex = mutex
	held, end := drivers.Bound(ctx, l.session)
	l.end = end
	return held, nil
}

func (l *Lock) lock(ctx context.Context) (*concurrency.Mutex, error) {
	if err := l.session.Ready(ctx); err != nil {
		return nil, err
	}
	session, err := l.session.concurrency()
	if err != nil {
		return nil, err
	}
	mutex := concurrency.NewMutex(session, l.session.Keys.Dir(l.path))
	if err := mutex.Lock(ctx); err != nil {
		l.session.cleanUp(ctx, l.path)
		return nil, l.session.ended(ctx, err)
	}
	return mutex, nil
}

// Token returns the revision at which the lock was seen to be held. It is later than the
// release by the previous holder, and so later than that holder's token.
func (l *Lock) Token() int64 {
	if l.mutex == nil {
		return drivers.NoSeq
	}
	return l.mutex.Header().GetRevision()
}

// Release releases the lock. It can be called again if it fails.
func (l *Lock) Release(ctx context.Context) error {
	if l.mutex == nil {
		return nil
	}
	l.end()
	err := l.mutex.Unlock(ctx)
	if err != nil && !errors.Is(err, concurrency.ErrLockReleased) {
		return l.session.Failed("release", l.path, err)
	}
	l.mutex = nil
	return nil
}
