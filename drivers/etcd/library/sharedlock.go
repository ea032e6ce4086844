package library

import (
	"context"

	recipe "go.etcd.io/etcd/client/v3/experimental/recipes"

	"github.com/stampede-bench/stampede/drivers"
)

// A SharedLock is [recipe.RWMutex]: keys on the lease, read/TIME and write/TIME. A
// reader waits for the nearest writer ahead of it, a writer for the nearest key ahead of it.
// Then the client looks again.
//
// It watches from the revision of its own key (v3.7.3, rwmutex.go:83), which is old when it
// has to wait a second time. If etcd has compacted that revision, the watch ends immediately,
// and the client looks and watches again, without a pause, until the key ahead is gone: this
// is safe, but a busy loop. The client never checks whether its own key still exists.
type SharedLock struct {
	*canceler
	path  string
	lock  *recipe.RWMutex // nil unless it is held
	token int64
	end   context.CancelFunc
}

// AcquireRead blocks until the lock is held together with other readers.
func (l *SharedLock) AcquireRead(ctx context.Context) (context.Context, error) {
	return l.acquire(ctx, (*recipe.RWMutex).RLock)
}

// AcquireWrite blocks until the lock is held alone.
func (l *SharedLock) AcquireWrite(ctx context.Context) (context.Context, error) {
	return l.acquire(ctx, (*recipe.RWMutex).Lock)
}

// acquire acquires the lock. If it fails it removes the key, which the library leaves.
func (l *SharedLock) acquire(ctx context.Context, how func(*recipe.RWMutex) error) (context.Context, error) {
	session, err := l.concurrency()
	if err != nil {
		return nil, l.session.Failed("acquire", l.path, err)
	}
	lock := recipe.NewRWMutex(session, l.session.Keys.Dir(l.path))
	if err := l.do(ctx, func() error { return how(lock) }); err != nil {
		l.session.cleanUp(ctx, l.path)
		return nil, l.session.Failed("acquire", l.path, err)
	}
	l.lock, l.token = lock, l.session.Revision()
	held, end := drivers.Bound(ctx, l.session)
	l.end = end
	return held, nil
}

// Token returns the revision at which the lock was seen to be held. It is read off the wire,
// since the library does not return it. It is later than the release by every earlier holder
// that conflicts.
func (l *SharedLock) Token() int64 {
	if l.lock == nil {
		return drivers.NoSeq
	}
	return l.token
}

// Release releases the lock. The library forgets its key even if it could not remove it
// (key.go:128), so only the first call has an effect.
func (l *SharedLock) Release(ctx context.Context) error {
	if l.lock == nil {
		return nil
	}
	l.end()
	lock := l.lock
	l.lock = nil
	if err := l.do(ctx, lock.Unlock); err != nil {
		l.session.cleanUp(ctx, l.path)
		return l.session.Failed("release", l.path, err)
	}
	return nil
}
