package etcd

import (
	"context"
	"errors"

	recipe "go.etcd.io/etcd/client/v3/experimental/recipes"
)

// A libraryQueue is [recipe.Queue]: keys without a lease, TIME by the clock of
// who puts, in the order of their revisions. All who find nothing watch the whole
// queue, and all are woken by an item: one of them deletes it, the others fail to
// and look again.
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

// Take removes an item, and waits for one as long as there is none.
func (q *libraryQueue) Take(ctx context.Context) ([]byte, error) {
	return q.take(ctx, q.path, q.queue.Dequeue)
}

// A libraryPriorityQueue is [recipe.PriorityQueue]: keys without a lease,
// PRIORITY/NUMBER. Who puts reads the last number of the priority, and tries again
// if somebody was faster. It keeps one key more for each priority and never
// removes it, whose name is the queue's with two underscores before it (v3.7.3,
// key.go:101): outside of the prefix that it was given, were it not lent one.
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

// Take removes an item, and waits for one as long as there is none.
func (q *libraryPriorityQueue) Take(ctx context.Context) ([]byte, error) {
	return q.take(ctx, q.path, q.queue.Dequeue)
}

func (l *loan) put(ctx context.Context, path string, enqueue func() error) error {
	if err := l.do(ctx, enqueue); err != nil {
		return failed("put", path, err)
	}
	return nil
}

// errWatchEnded is that a queue's watch ended while somebody waited for an item.
var errWatchEnded = errors.New("the watch for an item ended")

// take takes an item. The library does not look whether the watch has ended that
// it waits on, and then reads an event that is not there (queue.go:70,
// priority_queue.go:73): whoever gives up, or is closed, panics.
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
