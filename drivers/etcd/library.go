package etcd

import (
	"context"
	"errors"
	"strconv"
	"sync"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/stampede-bench/stampede/drivers"
)

// locks is the library's own idea of the session, made when it is first needed.
type locks struct {
	mu      sync.Mutex
	session *concurrency.Session
}

// of is the library's session, on our lease. The library refreshes it too,
// which does no harm.
func (l *locks) of(c *Conn) (*concurrency.Session, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.session == nil {
		s, err := concurrency.NewSession(c.library, concurrency.WithLease(clientv3.LeaseID(c.lease.id)))
		if err != nil {
			return nil, err
		}
		l.session = s
	}
	return l.session, nil
}

// A libraryLock is [concurrency.Mutex]. Its keys are children of the path, named
// by the lease.
type libraryLock struct {
	conn  *Conn
	path  string
	mutex *concurrency.Mutex // nil unless it is held
	end   context.CancelFunc
}

func (c *Conn) libraryLock(path string) *libraryLock { return &libraryLock{conn: c, path: path} }

// LibraryForm is the library's form of a recipe.
func (c *Conn) LibraryForm(recipe, path string, _ int) any {
	if recipe == "lock" {
		return c.libraryLock(path)
	}
	return nil
}

// Acquire blocks until the lock is held. If it fails it removes what the library
// may have left behind.
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
	session, err := l.conn.locks.of(l.conn)
	if err != nil {
		return nil, err
	}
	below := l.conn.keys.below(l.path)
	mutex := concurrency.NewMutex(session, below[:len(below)-1])
	if err := mutex.Lock(ctx); err != nil {
		l.abandon(ctx)
		return nil, l.why(ctx, err)
	}
	return mutex, nil
}

// why is the reason of a failure where we know it better than the library, which
// takes the end of its session for one of its watch.
func (l *libraryLock) why(ctx context.Context, err error) error {
	select {
	case <-l.conn.done:
		return drivers.ErrSessionLost
	default:
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// abandon removes the key of a lock that was not obtained: the library leaves it
// where it does not know whether it made it.
func (l *libraryLock) abandon(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
	defer cancel()
	key := l.path + "/" + strconv.FormatInt(l.conn.lease.id, 16)
	_ = l.conn.Delete(ctx, key, drivers.AnyVersion) // what stays ends with the session
}

// Token is the revision at which the lock was seen to be held. It lies after
// the end of whoever held it before, and so after their token.
func (l *libraryLock) Token() int64 {
	if l.mutex == nil {
		return drivers.NoSeq
	}
	return l.mutex.Header().GetRevision()
}

// Release gives the lock up. It can be called again if it fails.
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
