package naive

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

// A Queue delivers each item to one consumer, in the order in which items were
// put. A consumer lists the whole queue for each item, and all consumers race
// for the first item. All consumers that find the queue empty watch it, so the
// next item wakes all of them. One Queue serves one goroutine.
// Cost: 1 consumer, M items: M notifications, M lists and M other reads, 2M
// writes. N consumers wait, and N items come one at a time: N(N+3)/2 to N(N+1)
// notifications; an item wakes up to N.
type Queue struct {
	conn drivers.Conn
	dir  string
	mode drivers.Mode
	list []drivers.Child // items of the last list that were not tried yet
}

// NewQueue returns the queue at dir, an existing node. Its items are persistent
// or, with the mode Ephemeral, end with the session that put them.
func NewQueue(conn drivers.Conn, dir string, mode drivers.Mode) *Queue {
	return &Queue{conn: drivers.Steady(conn), dir: dir, mode: mode}
}

// Put adds an item, which must not be empty, at the end of the queue. If Put
// fails, the item may have been added; with ErrInDoubt, a consumer may have
// taken it too.
func (q *Queue) Put(ctx context.Context, item []byte) error {
	if err := protected.Put(ctx, q.conn, q.dir, "queue-", item, q.mode); err != nil {
		return fmt.Errorf("put into queue %s: %w", q.dir, err)
	}
	return nil
}

// Take removes an item and returns it. While the queue is empty, Take waits. If
// Take fails, it has taken nothing, unless it returns the item as well; with
// ErrInDoubt, either this client or another one has taken the item.
func (q *Queue) Take(ctx context.Context) (item []byte, err error) {
	item, err = q.take(ctx)
	if err != nil {
		err = fmt.Errorf("take from queue %s: %w", q.dir, err)
	}
	return item, err
}

func (q *Queue) take(ctx context.Context) (item []byte, err error) {
	for {
		// 1. Get the children (the items) again for every item.
		if err := q.look(ctx); err != nil {
			return nil, err
		}
		// 2. Get and delete the lowest item. The consumer that deletes it has
		// taken it.
		item, err := protected.Take(ctx, q.conn, path.Join(q.dir, q.list[0].Name))
		if err != nil && !errors.Is(err, drivers.ErrNoNode) {
			return item, err
		}
		q.list = q.list[1:]
		if err == nil {
			return item, nil
		}
		// 3. Another consumer was faster: go to step 1.
	}
}

// look gets the children, with a watch, and waits until there is an item.
func (q *Queue) look(ctx context.Context) error {
	for {
		var changed drivers.Wait
		items, err := q.conn.Children(ctx, q.dir, changed.Fire)
		if err != nil {
			return err
		}
		slices.SortFunc(items, func(a, b drivers.Child) int { return cmp.Compare(a.Seq, b.Seq) })
		if q.list = items; len(q.list) > 0 {
			return nil
		}
		if _, err := changed.Await(ctx); err != nil {
			return err
		}
	}
}
