package library

import (
	"context"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	recipe "go.etcd.io/etcd/client/v3/experimental/recipes"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/etcd/keys"
)

// A Session is what the library's forms use of a session of stampede.
type Session struct {
	drivers.Conn
	Client *clientv3.Client
	Lease  clientv3.LeaseID
	Keys   keys.Space
	// Ready returns when calls may be sent.
	Ready func(context.Context) error
	// Revision returns the revision of the last answer to a call of the library.
	Revision func() int64
	// Failed returns the error of a failed call in the terms of the contract.
	Failed func(call, path string, err error) error

	mu      sync.Mutex
	session *concurrency.Session
}

// Form returns the library's form of a recipe, or nil if the library has none.
func (s *Session) Form(recipe, path string, clients int) any {
	switch recipe {
	case "lock":
		return &Lock{session: s, path: path}
	case "election":
		return &Election{session: s, path: path}
	case "barrier":
		return newBarrier(s, path)
	case "double-barrier":
		return &DoubleBarrier{canceler: newCanceler(s), path: path, clients: clients}
	case "shared-lock":
		return &SharedLock{canceler: newCanceler(s), path: path}
	case "queue":
		return newQueue(s, path)
	case "priority-queue":
		return newPriorityQueue(s, path)
	}
	return nil
}

// concurrency returns the library's session, on this session's lease. It is created on first
// use. The library refreshes the lease too, which is harmless.
func (s *Session) concurrency() (*concurrency.Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.session == nil {
		session, err := concurrency.NewSession(s.Client, concurrency.WithLease(s.Lease))
		if err != nil {
			return nil, err
		}
		s.session = session
	}
	return s.session, nil
}

// ended returns the reason why a call of the library ended, where this session knows it better
// than the library. To Mutex, the end of the session is an end of its watch. Package recipe
// takes the end of a watch, for any reason, for the event that it waits for
// (experimental/recipes/watch.go:57, whose nil no caller checks): its wait then ends without
// an error.
func (s *Session) ended(ctx context.Context, err error) error {
	select {
	case <-s.Done():
		return drivers.ErrSessionLost
	default:
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// cleanUpTime bounds the removal of keys after a call that failed.
const cleanUpTime = 2 * time.Second

// cleanUp removes the session's own keys below a path after a call failed. The library leaves
// its key if it does not know whether it was written, and package recipe always leaves it. A
// key that cannot be removed goes with the session.
func (s *Session) cleanUp(ctx context.Context, path string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpTime)
	defer cancel()
	if s.Ready(ctx) != nil {
		return
	}
	there, err := s.Client.Get(ctx, s.Keys.Below(path), clientv3.WithPrefix())
	if err != nil {
		return
	}
	for _, kv := range there.Kvs {
		if kv.Lease == int64(s.Lease) {
			_, _ = s.Client.Delete(ctx, string(kv.Key))
		}
	}
}

// A Barrier is [recipe.Barrier]: one key, the node itself, without a lease. Wait reads
// it, watches from the next revision, and takes the end of its watch for the opening. If etcd
// has compacted that revision after a reconnect, Wait lets its caller pass a closed barrier.
type Barrier struct {
	*canceler
	path    string
	barrier *recipe.Barrier
}

func newBarrier(s *Session, path string) *Barrier {
	c := newCanceler(s)
	return &Barrier{c, path, recipe.NewBarrier(c.client, s.Keys.Node(path))}
}

// Set closes the barrier.
func (b *Barrier) Set(ctx context.Context) error { return b.try(ctx, "set", b.barrier.Hold) }

// Wait blocks until the barrier is open.
func (b *Barrier) Wait(ctx context.Context) error { return b.try(ctx, "wait", b.barrier.Wait) }

// Open releases all clients that wait.
func (b *Barrier) Open(ctx context.Context) error {
	return b.try(ctx, "open", b.barrier.Release)
}

func (b *Barrier) try(ctx context.Context, what string, call func() error) error {
	if err := b.do(ctx, call); err != nil {
		return b.session.Failed(what+" barrier", b.path, err)
	}
	return nil
}
