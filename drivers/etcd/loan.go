package etcd

import (
	"context"
	"sync"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	"go.etcd.io/etcd/client/v3/namespace"

	"github.com/stampede-bench/stampede/drivers"
)

// A loan is the session's client as package recipe gets it. That package takes no
// context and passes context.TODO() to every call (v3.7.3, experimental/recipes:
// barrier.go:34, client.go:36, rwmutex.go:34), so who waits in it could not give
// up. On loan, reads and watches end with the call that the library is in, and
// with them its waiting. Writes are left to end by themselves, with the session
// at the latest: then it is known what they did.
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

// within lends the client for keys that begin with a prefix, and no others.
func (l *loan) within(prefix string) *loan {
	l.client.KV = namespace.NewKV(l.client.KV, prefix)
	l.client.Watcher = namespace.NewWatcher(l.client.Watcher, prefix)
	return l
}

// session is the library's idea of the session.
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

// ended is the reason why a call of the library ended where we know it better
// than the library. To Mutex the end of its session is one of its watch, and
// package recipe takes the end of a watch, for whatever reason, for the event
// that it waits for (experimental/recipes/watch.go:57, whose nil is looked at by
// nobody): its waiting then ends without an error.
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

// A lentKV reads for as long as the call of the library goes on.
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

// A lentWatcher watches for as long as the call of the library goes on.
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
