package recipes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/protected"
)

// A OneWatcherQueue delivers each item to one consumer, in the order in which
// items were put. A consumer lock lets one consumer at a time list the queue
// and watch it, so an item wakes one consumer, which takes it. One
// OneWatcherQueue serves one goroutine.
// Cost: 1 consumer, M items: no notifications, 3M reads, 4M writes. N consumers
// wait, and N items come one at a time: 2N−1 notifications; an item wakes 1.
type OneWatcherQueue struct {
	conn  drivers.Conn
	dir   string
	mode  drivers.Mode
	turn  *Lock
	order func(a, b drivers.Child) int // negative if a is to be taken before b
}

// NewOneWatcherQueue returns the queue at dir whose consumer lock is at
// line; both nodes must exist. Its items are persistent or, with the mode
// Ephemeral, end with the session that put them.
func NewOneWatcherQueue(conn drivers.Conn, dir, line string, mode drivers.Mode) *OneWatcherQueue {
	return &OneWatcherQueue{
		conn: drivers.Steady(conn), dir: dir, mode: mode,
		turn:  NewLock(conn, line),
		order: func(a, b drivers.Child) int { return cmp.Compare(a.Seq, b.Seq) },
	}
}

// Put is like [Queue.Put].
func (q *OneWatcherQueue) Put(ctx context.Context, item []byte) error {
	return q.put(ctx, "queue-", item)
}

func (q *OneWatcherQueue) put(ctx context.Context, label string, item []byte) error {
	if err := protected.Put(ctx, q.conn, q.dir, label, item, q.mode); err != nil {
		return fmt.Errorf("put into queue %s: %w", q.dir, err)
	}
	return nil
}

// Take is like [Queue.Take], but it does not return ErrInDoubt while the
// session lives.
func (q *OneWatcherQueue) Take(ctx context.Context) (item []byte, err error) {
	// 1. Acquire the lock: wait for this consumer's turn.
	held, err := q.turn.Acquire(ctx)
	if err == nil {
		item, err = q.take(held)
		// 4. Release the lock, whether or not there was an item.
		err = errors.Join(err, q.pass(ctx))
	}
	if err != nil {
		err = fmt.Errorf("take from queue %s: %w", q.dir, err)
	}
	return item, err
}

func (q *OneWatcherQueue) take(ctx context.Context) (item []byte, err error) {
	for {
		// 2. Find the first item.
		first, err := q.first(ctx)
		if err != nil {
			return nil, err
		}
		// 3. Get and delete it. It can only be missing if its producer's
		// session has ended.
		item, err := protected.TakeAlone(ctx, q.conn, path.Join(q.dir, first.Name))
		if !errors.Is(err, drivers.ErrNoNode) {
			return item, err
		}
	}
}

// first waits until there is an item and returns the first one. It sets a watch
// only when the queue is empty, because this consumer's own deletion would fire
// the watch for nothing.
func (q *OneWatcherQueue) first(ctx context.Context) (drivers.Child, error) {
	for {
		var came drivers.Wait
		for _, watch := range []drivers.Watch{nil, came.Fire} {
			items, err := q.conn.Children(ctx, q.dir, watch)
			if err != nil {
				return drivers.Child{}, err
			}
			if len(items) > 0 {
				return slices.MinFunc(items, q.order), nil
			}
		}
		if _, err := came.Await(ctx); err != nil {
			return drivers.Child{}, err
		}
	}
}

// pass releases the lock, even if ctx has ended.
func (q *OneWatcherQueue) pass(ctx context.Context) error {
	q.turn.end()
	return q.turn.node.Abandon(ctx)
}
