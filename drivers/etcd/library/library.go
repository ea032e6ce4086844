package library

import (
	"context"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	recipe "go.etcd.io/etcd/client/v3/experimental/recipes"
	"go.etcd.io/etcd/client/v3/namespace"

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
	there, err := s.Client.Get(ctx, s.Keys.ChildPrefix(path), clientv3.WithPrefix())
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

// A canceler gives package recipe a client whose calls can be cancelled. That package takes no
// context and passes context.TODO() to every call (v3.7.3, experimental/recipes:
// barrier.go:34, client.go:36, rwmutex.go:34), so a caller could not cancel it. Through a
// canceler, reads and watches end with the context of the current call of the library, and so
// does the library's waiting. Writes are not cancelled and end with the session at the latest,
// so that their outcome is known.
type canceler struct {
	session *Session
	client  *clientv3.Client

	mu   sync.Mutex
	call context.Context
}

func newCanceler(s *Session) *canceler {
	c := &canceler{session: s, client: clientv3.NewCtxClient(context.Background())}
	c.client.KV = cancelableKV{s.Client.KV, c}
	c.client.Watcher = cancelableWatcher{s.Client.Watcher, c}
	c.client.Lease = refreshedLease{s.Client.Lease}
	return c
}

// restrictTo restricts the client to keys that begin with a prefix.
func (c *canceler) restrictTo(prefix string) *canceler {
	c.client.KV = namespace.NewKV(c.client.KV, prefix)
	c.client.Watcher = namespace.NewWatcher(c.client.Watcher, prefix)
	return c
}

// concurrency returns the library's own session object, on this session's lease.
func (c *canceler) concurrency() (*concurrency.Session, error) {
	return concurrency.NewSession(c.client, concurrency.WithLease(c.session.Lease))
}

// do calls the library, once calls may be sent.
func (c *canceler) do(ctx context.Context, call func() error) error {
	if err := c.session.Ready(ctx); err != nil {
		return err
	}
	c.mu.Lock()
	c.call = ctx
	c.mu.Unlock()
	return c.session.ended(ctx, call())
}

func (c *canceler) context() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.call
}

// A cancelableKV cancels reads when the current call of the library ends.
type cancelableKV struct {
	clientv3.KV
	canceler *canceler
}

func (k cancelableKV) Get(_ context.Context, key string, opts ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	return k.KV.Get(k.canceler.context(), key, opts...)
}

func (k cancelableKV) Do(ctx context.Context, op clientv3.Op) (clientv3.OpResponse, error) {
	if op.IsGet() {
		ctx = k.canceler.context()
	}
	return k.KV.Do(ctx, op)
}

// A cancelableWatcher cancels watches when the current call of the library ends.
type cancelableWatcher struct {
	clientv3.Watcher
	canceler *canceler
}

func (w cancelableWatcher) Watch(ctx context.Context, key string, opts ...clientv3.OpOption) clientv3.WatchChan {
	ctx, end := context.WithCancel(ctx)
	forget := context.AfterFunc(w.canceler.context(), end)
	context.AfterFunc(ctx, func() { forget() })
	return w.Watcher.Watch(ctx, key, opts...)
}

// A refreshedLease is refreshed by its session, not by the library.
type refreshedLease struct{ clientv3.Lease }

func (refreshedLease) KeepAlive(context.Context, clientv3.LeaseID) (<-chan *clientv3.LeaseKeepAliveResponse, error) {
	over := make(chan *clientv3.LeaseKeepAliveResponse)
	close(over)
	return over, nil
}
