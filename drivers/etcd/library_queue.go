package etcd

import (
	"context"
	"errors"

	recipe "go.etcd.io/etcd/client/v3/experimental/recipes"
)

// A libraryQueue is [recipe.Queue]: keys without a lease, TIME by the clock of the producer,
// in the order of their revisions. All consumers that find the queue empty watch the whole
// queue, and an item wakes all of them: one deletes it, the others fail and look again.
type libraryQueue struct {
	*loan
	path  string
	queue *recipe.Queue
}

func (c *Conn) libraryQueue(path string) *libraryQueue {
	l := c.lend()
	return &libraryQueue{l, path, recipe.NewQueue(l.client, c.keys.dir(path))}
}

// Put adds an item.
func (q *libraryQueue) Put(ctx context.Context, item []byte) error {
	return q.put(ctx, q.path, func() error { return q.queue.Enqueue(string(item)) })
}

// Take removes an item. It waits while the queue is empty.
func (q *libraryQueue) Take(ctx context.Context) ([]byte, error) {
	return q.take(ctx, q.path, q.queue.Dequeue)
}

// A libraryPriorityQueue is [recipe.PriorityQueue]: keys without a lease, PRIORITY/NUMBER. A
// producer reads the last number of the priority, and tries again if another producer was
// faster. For each priority the queue keeps one more key, which it never removes and whose
// name is the queue's name after two underscores (v3.7.3, key.go:101). That key would be
// outside of the given prefix, so the library gets a client restricted to the prefix.
type libraryPriorityQueue struct {
	*loan
	path  string
	queue *recipe.PriorityQueue
}

func (c *Conn) libraryPriorityQueue(path string) *libraryPriorityQueue {
	l := c.lend().within(c.keys.below(path))
	return &libraryPriorityQueue{l, path, recipe.NewPriorityQueue(l.client, "items")}
}

// Put adds an item.
func (q *libraryPriorityQueue) Put(ctx context.Context, priority int, item []byte) error {
	return q.put(ctx, q.path, func() error { return q.queue.Enqueue(string(item), uint16(priority)) })
}

// Take removes an item. It waits while the queue is empty.
func (q *libraryPriorityQueue) Take(ctx context.Context) ([]byte, error) {
	return q.take(ctx, q.path, q.queue.Dequeue)
}

func (l *loan) put(ctx context.Context, path string, enqueue func() error) error {
	if err := l.do(ctx, enqueue); err != nil {
		return failed("put", path, err)
	}
	return nil
}

// errWatchEnded reports that a queue's watch ended while a caller waited for an item.
var errWatchEnded = errors.New("the watch for an item ended")

// take takes an item. The library does not check whether the watch that it waits on has ended,
// and then reads an event that is not there (queue.go:70, priority_queue.go:73). It therefore
// panics when the caller cancels or the session is closed.
func (l *loan) take(ctx context.Context, path string, dequeue func() (string, error)) (item []byte, err error) {
	err = l.do(ctx, func() (err error) {
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
		err = failed("take", path, err)
	}
	return item, err
}
