package etcd

import (
	"context"
	"path"
	"sync"
	"sync/atomic"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/etcd/keys"
	"github.com/stampede-bench/stampede/drivers/etcd/library"
	"github.com/stampede-bench/stampede/drivers/latch"
)

// A Conn is one session: a lease with a key on it, one connection, one watch stream. It is a
// [drivers.PersistentWatcher], a [drivers.Flusher], a [drivers.Librarian] and a [drivers.Transactor].
//
// While the session is disconnected, calls that have not been sent wait for the reconnect.
// Calls that have been sent fail with ErrConnectionLoss. The session is lost when the service
// says so, when the lease could not be refreshed and is about to expire, and when the session
// is closed. The Conn then calls OnState, closes Done, and fires Lost at all armed watches, in
// this order.
type Conn struct {
	options      drivers.Options
	keys         keys.Space
	serializable bool // reads are serializable
	library      *clientv3.Client
	tap          *tap
	latch        latch.Latch
	pool         pool
	watches      *watcher

	lease   lease
	key     string       // of the session
	version atomic.Int64 // of that key: see alive
	made    atomic.Int64 // number of sequential names made

	mu        sync.Mutex
	opened    bool // it has been connected
	connected bool
	over      bool
	done      chan struct{}
	closing   sync.Once
	leaving   sync.WaitGroup   // goroutines that end with the session
	forms     *library.Session // set when the session has its lease
}

var (
	_ drivers.PersistentWatcher = (*Conn)(nil)
	_ drivers.Flusher           = (*Conn)(nil)
	_ drivers.Librarian         = (*Conn)(nil)
	_ drivers.NeighborLister    = (*Conn)(nil)
	_ drivers.Transactor        = (*Conn)(nil)
	_ drivers.Conn              = (*Conn)(nil)
)

// Create makes a node. A sequential name gets a suffix with the session's lease and a number
// that counts the session's sequential nodes. Seq is the create revision.
func (c *Conn) Create(ctx context.Context, name string, data []byte, mode drivers.Mode) (drivers.Child, error) {
	return c.creation(ctx, c.create(name, data, mode))
}

// Join makes a sequential node and lists its neighbors in the same transaction.
func (c *Conn) Join(ctx context.Context, name string, data []byte, mode drivers.Mode) (made drivers.Child, neighbors []drivers.Child, err error) {
	q := c.join(name, data, mode)
	made, err = c.creation(ctx, q)
	if err != nil { // the query may still be in flight
		return drivers.Child{}, nil, err
	}
	return made, q.children, nil
}

func (c *Conn) creation(ctx context.Context, q *query) (drivers.Child, error) {
	resp, err := c.do(ctx, q)
	if err != nil {
		return drivers.Child{}, err
	}
	made := drivers.Child{Name: path.Base(q.made), Seq: drivers.NoSeq}
	if q.mode&drivers.Sequential != 0 {
		made.Seq = resp.Header.Revision
	}
	return made, nil
}

// Delete removes a node.
func (c *Conn) Delete(ctx context.Context, path string, version int32) error {
	_, err := c.do(ctx, c.remove(path, version))
	return err
}

// Set writes a node's data.
func (c *Conn) Set(ctx context.Context, path string, data []byte, version int32) (drivers.Stat, error) {
	resp, err := c.do(ctx, c.set(path, data, version))
	if err != nil {
		return drivers.Stat{}, err
	}
	return stat(first(resp, 1)), nil
}

// SetAll writes several nodes in one transaction.
func (c *Conn) SetAll(ctx context.Context, sets []drivers.Call) ([]drivers.Stat, error) {
	for _, s := range sets {
		if err := keys.Check(s.Path); err != nil {
			return nil, err
		}
	}
	resp, err := c.do(ctx, c.setAll(sets))
	if err != nil {
		return nil, err
	}
	stats := make([]drivers.Stat, len(sets))
	for i := range stats {
		stats[i] = stat(first(resp, 2*i+1))
	}
	return stats, nil
}

// Exists reports whether there is a node.
func (c *Conn) Exists(ctx context.Context, path string, w drivers.Watch) (drivers.Stat, bool, error) {
	q := c.lookAt(drivers.OpExists, path)
	if err := c.watched(ctx, q, w); err != nil || q.verdict != nil {
		return drivers.Stat{}, false, err
	}
	return stat(q.node), true, nil
}

// Get reads a node.
func (c *Conn) Get(ctx context.Context, path string, w drivers.Watch) ([]byte, drivers.Stat, error) {
	q := c.lookAt(drivers.OpGet, path)
	if err := c.watched(ctx, q, w); err != nil {
		return nil, drivers.Stat{}, err
	}
	return q.node.GetValue(), stat(q.node), nil
}

// Children lists a node's children.
func (c *Conn) Children(ctx context.Context, path string, w drivers.Watch) ([]drivers.Child, error) {
	q := c.listAll(path)
	if err := c.watched(ctx, q, w); err != nil {
		return nil, err
	}
	return q.children, nil
}

// Neighbors lists the child with the given Seq and the sequential child right before it.
func (c *Conn) Neighbors(ctx context.Context, path string, seq int64) ([]drivers.Child, error) {
	q := c.listAll(path)
	q.upTo = seq
	if _, err := c.do(ctx, q); err != nil {
		return nil, err
	}
	return q.children, nil
}

// Sync is a linearizable read: once it is answered, the session has caught up.
func (c *Conn) Sync(ctx context.Context, path string) error {
	_, err := c.do(ctx, c.look(drivers.OpSync, path))
	return err
}

// Flush makes a linearizable read, whose revision covers every write acknowledged to any
// client. It then sends progress requests until the server confirms that it has sent all
// events up to that revision.
func (c *Conn) Flush(ctx context.Context) error {
	q := c.look(drivers.OpFlush, "/")
	if _, err := c.do(ctx, q); err != nil {
		return err
	}
	err := c.watches.flush(ctx, q.seen.revision, c.done)
	if err == nil {
		err = c.tap.flush(ctx, q.seen.revision, c.done)
	}
	if err != nil {
		return failed("flush", "/", err)
	}
	return nil
}

// Done is closed when the session is lost or closed.
func (c *Conn) Done() <-chan struct{} { return c.done }

// LibraryForm returns the form of a recipe that etcd's library ships, or nil if it has none.
func (c *Conn) LibraryForm(recipe, path string, clients int) any {
	return c.forms.Form(recipe, path, clients)
}

// watched makes a read and arms the watch, if there is one.
func (c *Conn) watched(ctx context.Context, q *query, call drivers.Watch) error {
	if call == nil {
		_, err := c.do(ctx, q)
		return err
	}
	if err := c.ready(ctx, q); err != nil {
		return err
	}
	w, err := c.watches.open(call, q.path, q.op == drivers.OpChildren)
	if err != nil {
		return failed(q.op.String(), q.path, err)
	}
	q.watch = w
	if _, err := c.do(ctx, q); err != nil {
		c.watches.drop(w)
		return err
	}
	if err := c.watches.arm(w, q.seen); err != nil {
		return failed(q.op.String(), q.path, err)
	}
	return nil
}
