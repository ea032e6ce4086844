package library

import (
	"context"
	"sync"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	"go.etcd.io/etcd/client/v3/namespace"
)

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

// within restricts the client to keys that begin with a prefix.
func (c *canceler) within(prefix string) *canceler {
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
