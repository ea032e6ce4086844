package library

import (
	"context"
	"errors"

	recipe "go.etcd.io/etcd/client/v3/experimental/recipes"

	"github.com/stampede-bench/stampede/drivers"
)

// A Queue is [recipe.Queue]: keys without a lease, TIME by the clock of the producer,
// in the order of their revisions. All consumers that find the queue empty watch the whole
// queue, and an item wakes all of them: one deletes it, the others fail and look again.
type Queue struct {
	*canceler
	path  string
	queue *recipe.Queue
}

func newQueue(s *Session, path string) *Queue {
	c := newCanceler(s)
	return &Queue{c, path, recipe.NewQueue(c.client, s.Keys.Dir(path))}
}

// Put adds an item.
func (q *Queue) Put(ctx context.Context, item []byte) error {
	return q.put(ctx, q.path, func() error { return q.queue.Enqueue(string(item)) })
}

// Take removes an item. It waits while the queue is empty.
func (q *Queue) Take(ctx context.Context) ([]byte, error) {
	return q.take(ctx, q.path, q.queue.Dequeue)
}

// A PriorityQueue is [recipe.PriorityQueue]: keys without a lease, PRIORITY/NUMBER. A
// producer reads the last number of the priority, and tries again if another producer was
// faster. For each priority the queue keeps one more key, which it never removes and whose
// name is the queue's name after two underscores (v3.7.3, key.go:101). That key would be
// outside of the given prefix, so the library gets a client restricted to the prefix.
type PriorityQueue struct {
	*canceler
	path  string
	queue *recipe.PriorityQueue
}

func newPriorityQueue(s *Session, path string) *PriorityQueue {
	c := newCanceler(s).restrictTo(s.Keys.ChildPrefix(path))
	return &PriorityQueue{c, path, recipe.NewPriorityQueue(c.client, "items")}
}

// Put adds an item.
func (q *PriorityQueue) Put(ctx context.Context, priority int, item []byte) error {
	return q.put(ctx, q.path, func() error { return q.queue.Enqueue(string(item), uint16(priority)) })
}

// Take removes an item. It waits while the queue is empty.
func (q *PriorityQueue) Take(ctx context.Context) ([]byte, error) {
	return q.take(ctx, q.path, q.queue.Dequeue)
}

func (c *canceler) put(ctx context.Context, path string, enqueue func() error) error {
	if err := c.do(ctx, enqueue); err != nil {
		return c.session.Failed("put", path, err)
	}
	return nil
}

// errWatchEnded reports that a queue's watch ended while a caller waited for an item.
var errWatchEnded = errors.New("the watch for an item ended")

// take takes an item. The library does not check whether the watch that it waits on has ended,
// and then reads an event that is not there (queue.go:70, priority_queue.go:73). It therefore
// panics when the caller cancels or the session is closed.
func (c *canceler) take(ctx context.Context, path string, dequeue func() (string, error)) (item []byte, err error) {
	err = c.do(ctx, func() (err error) {
		defer func() {
			if recover() != nil {
				err = errWatchEnded
			}
		}()
		taken, err := dequeue()
		if err == nil {
			item = []byte(taken)
		}
		return err
	})
	if err != nil {
		err = c.session.Failed("take", path, err)
	}
	return item, err
}

// A DoubleBarrier is [recipe.DoubleBarrier]: keys on the lease, waiters/TIME, and one
// key without a lease, ready, which the last client to leave removes.
//
// A waiting client watches from an old revision: to enter, from that of its own key; to leave,
// from the create revision of the lowest key (v3.7.3, double_barrier.go:94, 150 and 166). If
// etcd has compacted that revision, the watch ends immediately. Enter takes this for the
// opening, so its caller enters before all clients have arrived. Leave checks again and
// watches from the same revision again, without a pause, until that key is gone: if clients
// stay inside for longer than etcd keeps history, leaving is a busy loop.
type DoubleBarrier struct {
	*canceler
	path    string
	clients int
	barrier *recipe.DoubleBarrier
	end     context.CancelFunc
}

// Enter blocks until all clients have arrived. If it fails it removes the client's key.
func (b *DoubleBarrier) Enter(ctx context.Context) (inside context.Context, err error) {
	session, err := b.concurrency()
	if err != nil {
		return nil, b.session.Failed("enter", b.path, err)
	}
	b.barrier = recipe.NewDoubleBarrier(session, b.session.Keys.Dir(b.path), b.clients)
	if err := b.do(ctx, b.barrier.Enter); err != nil {
		b.session.cleanUp(ctx, b.path)
		return nil, b.session.Failed("enter", b.path, err)
	}
	inside, b.end = drivers.Bound(ctx, b.session)
	return inside, nil
}

// Leave blocks until all clients want to leave. If it fails the client has left.
func (b *DoubleBarrier) Leave(ctx context.Context) error {
	b.end()
	if err := b.do(ctx, b.barrier.Leave); err != nil {
		b.session.cleanUp(ctx, b.path)
		return b.session.Failed("leave", b.path, err)
	}
	return nil
}
