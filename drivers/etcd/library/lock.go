package library

import (
	"context"
	"errors"

	"go.etcd.io/etcd/client/v3/concurrency"
	recipe "go.etcd.io/etcd/client/v3/experimental/recipes"

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

// An Election is [concurrency.Election]. Its keys are children of the path, named by the
// lease. A cancelled campaign gives up its place in the line. But if its wait fails for
// another reason, for instance because etcd has compacted the revision that it watches from,
// the library leaves its key in the line and forgets it (v3.7.3, concurrency/election.go:100).
type Election struct {
	session  *Session
	path     string
	election *concurrency.Election // nil unless it leads
	end      context.CancelFunc
}

// Campaign blocks until this session leads. If it fails it removes what the library may have
// left behind.
func (e *Election) Campaign(ctx context.Context) (leading context.Context, err error) {
	election, err := e.campaign(ctx)
	if err != nil {
		return nil, e.session.Failed("campaign", e.path, err)
	}
	e.election = election
	leading, e.end = drivers.Bound(ctx, e.session)
	return leading, nil
}

func (e *Election) campaign(ctx context.Context) (*concurrency.Election, error) {
	if err := e.session.Ready(ctx); err != nil {
		return nil, err
	}
	session, err := e.session.concurrency()
	if err != nil {
		return nil, err
	}
	election := concurrency.NewElection(session, e.session.Keys.Dir(e.path))
	if err := election.Campaign(ctx, ""); err != nil {
		e.session.cleanUp(ctx, e.path)
		return nil, e.session.ended(ctx, err)
	}
	return election, nil
}

// Token returns the revision at which the leader joined the line. Clients lead in the order of
// these revisions.
func (e *Election) Token() int64 {
	if e.election == nil {
		return drivers.NoSeq
	}
	return e.election.Rev()
}

// Resign gives up the leadership. The library forgets its key even if it could not remove it
// (election.go:142), so only the first call has an effect.
func (e *Election) Resign(ctx context.Context) error {
	if e.election == nil {
		return nil
	}
	e.end()
	election := e.election
	e.election = nil
	if err := election.Resign(ctx); err != nil {
		e.session.cleanUp(ctx, e.path)
		return e.session.Failed("resign", e.path, e.session.ended(ctx, err))
	}
	return nil
}
