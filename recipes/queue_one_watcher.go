package recipes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/claim"
)

// A OneWatcherQueue hands each item to one consumer, in the order in which they
// were put. Consumers take by turns, with a lock, and only the one whose turn it
// is looks into the queue and watches it, so an item wakes one consumer and that
// one has it. One OneWatcherQueue serves one goroutine.
// Cost: 1 consumer, M items: no notifications, 3M reads, 4M writes. N consumers
// wait, and N items come one at a time: 2N−1 notifications; an item wakes 1.
type OneWatcherQueue struct {
	conn  drivers.Conn
	dir   string
	mode  drivers.Mode
	turn  *Lock
	order func(a, b drivers.Child) int // negative if a is to be taken before b
}

// NewOneWatcherQueue returns the queue at dir whose consumers stand in line at
// line, two nodes that are there already. Its items are persistent, or, with the
// mode Ephemeral, go with the session that put them.
func NewOneWatcherQueue(conn drivers.Conn, dir, line string, mode drivers.Mode) *OneWatcherQueue {
	return &OneWatcherQueue{
		conn: drivers.Steady(conn), dir: dir, mode: mode,
		turn:  NewLock(conn, line),
		order: func(a, b drivers.Child) int { return cmp.Compare(a.Seq, b.Seq) },
	}
}

// Put is as [Queue.Put].
func (q *OneWatcherQueue) Put(ctx context.Context, item []byte) error {
	return q.put(ctx, "queue-", item)
}

func (q *OneWatcherQueue) put(ctx context.Context, label string, item []byte) error {
	if err := claim.Put(ctx, q.conn, q.dir, label, item, q.mode); err != nil {
		return fmt.Errorf("put into queue %s: %w", q.dir, err)
	}
	return nil
}

// Take is as [Queue.Take], but never in doubt while the session lives.
func (q *OneWatcherQueue) Take(ctx context.Context) (item []byte, err error) {
	// 1. Wait for the turn.
	held, err := q.turn.Acquire(ctx)
	if err == nil {
		item, err = q.take(held)
		// 4. Let the next one have its turn, whether or not there was an item.
		err = errors.Join(err, q.pass(ctx))
	}
	if err != nil {
		err = fmt.Errorf("take from queue %s: %w", q.dir, err)
	}
	return item, err
}

func (q *OneWatcherQueue) take(ctx context.Context) (item []byte, err error) {
	for {
		// 2. Look for the first item.
		first, err := q.first(ctx)
		if err != nil {
			return nil, err
		}
		// 3. Read and delete it. It is gone only if its producer is.
		item, err := claim.TakeAlone(ctx, q.conn, path.Join(q.dir, first.Name))
		if !errors.Is(err, drivers.ErrNoNode) {
			return item, err
		}
	}
}

// first waits for an item as long as there is none. It watches only then, since
// the consumer's own deletion would fire a watch for nothing.
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

// pass gives up the turn, also for somebody whose context has ended.
func (q *OneWatcherQueue) pass(ctx context.Context) error {
	q.turn.end()
	return q.turn.node.Abandon(ctx)
}
