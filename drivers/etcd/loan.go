package etcd

import (
	"context"
	"sync"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	"go.etcd.io/etcd/client/v3/namespace"

	"github.com/stampede-bench/stampede/drivers"
)

// A loan is the session's client as package recipe gets it. That package takes no context and
// passes context.TODO() to every call (v3.7.3, experimental/recipes: barrier.go:34,
// client.go:36, rwmutex.go:34), so a caller could not cancel it. Through a loan, reads and
// watches end with the context of the current call of the library, and so does the library's
// waiting. Writes are not cancelled and end with the session at the latest, so that their
// outcome is known.
type loan struct {
	conn   *Conn
	client *clientv3.Client

	mu   sync.Mutex
	call context.Context
}

func (c *Conn) lend() *loan {
	l := &loan{conn: c, client: clientv3.NewCtxClient(context.Background())}
	l.client.KV = lentKV{c.library.KV, l}
	l.client.Watcher = lentWatcher{c.library.Watcher, l}
	l.client.Lease = lentLease{c.library.Lease}
	return l
}

// within restricts the client to keys that begin with a prefix.
func (l *loan) within(prefix string) *loan {
	l.client.KV = namespace.NewKV(l.client.KV, prefix)
	l.client.Watcher = namespace.NewWatcher(l.client.Watcher, prefix)
	return l
}

// session returns the library's own session object, on this session's lease.
func (l *loan) session() (*concurrency.Session, error) {
	return concurrency.NewSession(l.client, concurrency.WithLease(clientv3.LeaseID(l.conn.lease.id)))
}

// do calls the library, once calls may be sent.
func (l *loan) do(ctx context.Context, call func() error) error {
	if err := l.conn.gate.pass(ctx, l.conn.done); err != nil {
		return err
	}
	l.mu.Lock()
	l.call = ctx
	l.mu.Unlock()
	return l.conn.ended(ctx, call())
}

func (l *loan) context() context.Context {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.call
}

// ended returns the reason why a call of the library ended, where this session knows it better
// than the library. To Mutex, the end of the session is an end of its watch. Package recipe
// takes the end of a watch, for any reason, for the event that it waits for
// (experimental/recipes/watch.go:57, whose nil no caller checks): its wait then ends without
// an error.
func (c *Conn) ended(ctx context.Context, err error) error {
	select {
	case <-c.done:
		return drivers.ErrSessionLost
	default:
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// A lentKV cancels reads when the current call of the library ends.
type lentKV struct {
	clientv3.KV
	loan *loan
}

func (k lentKV) Get(_ context.Context, key string, opts ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	return k.KV.Get(k.loan.context(), key, opts...)
}

func (k lentKV) Do(ctx context.Context, op clientv3.Op) (clientv3.OpResponse, error) {
	if op.IsGet() {
		ctx = k.loan.context()
	}
	return k.KV.Do(ctx, op)
}

// A lentWatcher cancels watches when the current call of the library ends.
type lentWatcher struct {
	clientv3.Watcher
	loan *loan
}

func (w lentWatcher) Watch(ctx context.Context, key string, opts ...clientv3.OpOption) clientv3.WatchChan {
	ctx, end := context.WithCancel(ctx)
	forget := context.AfterFunc(w.loan.context(), end)
	context.AfterFunc(ctx, func() { forget() })
	return w.Watcher.Watch(ctx, key, opts...)
}

// A lentLease is refreshed by its session, not by the library.
type lentLease struct{ clientv3.Lease }

func (lentLease) KeepAlive(context.Context, clientv3.LeaseID) (<-chan *clientv3.LeaseKeepAliveResponse, error) {
	over := make(chan *clientv3.LeaseKeepAliveResponse)
	close(over)
	return over, nil
}
