package recipes

import (
	"context"
	"fmt"

	"github.com/stampede-bench/stampede/drivers"
)

// A OneWatcherPriorityQueue delivers each item to one consumer, the lowest
// priority number first. It differs from [OneWatcherQueue] only in that order:
// a consumer lock lets one consumer at a time list the queue and watch it. One
// OneWatcherPriorityQueue serves one goroutine.
// Cost: 1 consumer, M items: no notifications, 3M reads, 4M writes. N consumers
// wait, and N items come one at a time: 2N−1 notifications; an item wakes 1.
type OneWatcherPriorityQueue struct{ queue *OneWatcherQueue }

// NewOneWatcherPriorityQueue returns the queue at dir whose consumers stand in
// line at line; both nodes must exist. Its items are persistent or, with the
// mode Ephemeral, end with the session that put them.
func NewOneWatcherPriorityQueue(conn drivers.Conn, dir, line string, mode drivers.Mode) *OneWatcherPriorityQueue {
	q := NewOneWatcherQueue(conn, dir, line, mode)
	q.order = byPriority
	return &OneWatcherPriorityQueue{q}
}

// Put is like [PriorityQueue.Put].
func (q *OneWatcherPriorityQueue) Put(ctx context.Context, priority int, item []byte) error {
	label, err := labelOf(priority)
	if err != nil {
		return fmt.Errorf("put into queue %s: %w", q.queue.dir, err)
	}
	return q.queue.put(ctx, label, item)
}

// Take is like [PriorityQueue.Take], but it does not return ErrInDoubt while
// the session lives.
func (q *OneWatcherPriorityQueue) Take(ctx context.Context) (item []byte, err error) {
	return q.queue.Take(ctx)
}
