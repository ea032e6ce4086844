package etcd

import (
	"context"

	recipe "go.etcd.io/etcd/client/v3/experimental/recipes"

	"github.com/stampede-bench/stampede/drivers"
)

// A librarySharedLock is [recipe.RWMutex]: keys on the lease, read/TIME and
// write/TIME. A reader waits for the nearest writer before it, a writer for
// whoever is before it, and looks again.
//
// It watches from the revision of its own key (v3.7.3, rwmutex.go:83), which is
// old when it has to wait a second time. Where etcd has forgotten it the watch ends
// at once, and the client looks and watches again, without a pause, until the one
// ahead has gone: it is safe, and a loop at full speed. Nobody looks whether the
// own key is still there.
type librarySharedLock struct {
	*loan
	path  string
	lock  *recipe.RWMutex // nil unless it is held
	token int64
	end   context.CancelFunc
}

func (c *Conn) librarySharedLock(path string) *librarySharedLock {
	return &librarySharedLock{loan: c.lend(), path: path}
}

// AcquireRead blocks until the lock is held together with other readers.
func (l *librarySharedLock) AcquireRead(ctx context.Context) (context.Context, error) {
	return l.acquire(ctx, (*recipe.RWMutex).RLock)
}

// AcquireWrite blocks until the lock is held alone.
func (l *librarySharedLock) AcquireWrite(ctx context.Context) (context.Context, error) {
	return l.acquire(ctx, (*recipe.RWMutex).Lock)
}

// acquire removes the key, which the library leaves, if it fails.
func (l *librarySharedLock) acquire(ctx context.Context, how func(*recipe.RWMutex) error) (context.Context, error) {
	session, err := l.session()
	if err != nil {
		return nil, failed("acquire", l.path, err)
	}
	lock := recipe.NewRWMutex(session, l.conn.keys.dir(l.path))
	if err := l.do(ctx, func() error { return how(lock) }); err != nil {
		l.conn.abandon(ctx, l.path)
		return nil, failed("acquire", l.path, err)
	}
	l.lock, l.token = lock, l.conn.tap.seen.Load()
	held, end := drivers.Bound(ctx, l.conn)
	l.end = end
	return held, nil
}

// Token is the revision at which the lock was seen to be held, read off the wire,
// since the library tells none. It lies after the end of whoever stood in the way.
func (l *librarySharedLock) Token() int64 {
	if l.lock == nil {
		return drivers.NoSeq
	}
	return l.token
}

// Release gives the lock up. The library forgets its key even if it could not
// remove it (key.go:128), so that only the first call does anything.
func (l *librarySharedLock) Release(ctx context.Context) error {
	if l.lock == nil {
		return nil
	}
	l.end()
	lock := l.lock
	l.lock = nil
	if err := l.do(ctx, lock.Unlock); err != nil {
		l.conn.abandon(ctx, l.path)
		return failed("release", l.path, err)
	}
	return nil
}
