package naive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/protected"
)

// A PriorityQueue delivers each item to one consumer, the lowest priority
// number first. A consumer lists the whole queue for each item, and all
// consumers race for the first item. All consumers that find the queue empty
// watch it, so the next item wakes all of them. One PriorityQueue serves one
// goroutine.
// Cost: 1 consumer, M items: M notifications, M lists and M other reads, 2M
// writes. N consumers wait, and N items come one at a time: N(N+3)/2 to N(N+1)
// notifications; an item wakes up to N.
type PriorityQueue struct {
	conn    drivers.Conn
	dir     string
	mode    drivers.Mode
	list    []drivers.Child // items of the last list that were not tried yet
	changed *drivers.Wait   // the watch on that list
}

// NewPriorityQueue returns the queue at dir, an existing node. Its items are
// persistent or, with the mode Ephemeral, end with the session that put them.
func NewPriorityQueue(conn drivers.Conn, dir string, mode drivers.Mode) *PriorityQueue {
	return &PriorityQueue{conn: drivers.Steady(conn), dir: dir, mode: mode}
}

// Put adds an item, which must not be empty, with a priority from 0, which is
// taken first, to 99. If Put fails, the item may have been added; with
// ErrInDoubt, a consumer may have taken it too.
func (q *PriorityQueue) Put(ctx context.Context, priority int, item []byte) error {
	label, err := labelOf(priority)
	if err == nil {
		err = protected.Put(ctx, q.conn, q.dir, label, item, q.mode)
	}
	if err != nil {
		return fmt.Errorf("put into queue %s: %w", q.dir, err)
	}
	return nil
}

// Take removes an item and returns it. While the queue is empty, Take waits. If
// Take fails, it has taken nothing, unless it returns the item as well; with
// ErrInDoubt, either this client or another one has taken the item.
func (q *PriorityQueue) Take(ctx context.Context) (item []byte, err error) {
	item, err = q.take(ctx)
	if err != nil {
		err = fmt.Errorf("take from queue %s: %w", q.dir, err)
	}
	return item, err
}

func (q *PriorityQueue) take(ctx context.Context) (item []byte, err error) {
	for {
		// 1. Get the children (the items) again for every item.
		if err := q.look(ctx); err != nil {
			return nil, err
		}
		// 2. Get and delete the first item. The consumer that deletes it has
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
func (q *PriorityQueue) look(ctx context.Context) error {
	for {
		q.changed = new(drivers.Wait)
		items, err := q.conn.Children(ctx, q.dir, q.changed.Fire)
		if err != nil {
			return err
		}
		slices.SortFunc(items, byPriority)
		if q.list = items; len(q.list) > 0 {
			return nil
		}
		if _, err := q.changed.Await(ctx); err != nil {
			return err
		}
	}
}

// labelOf returns the part of an item's name that says its priority, after the
// GUID.
func labelOf(priority int) (string, error) {
	if priority < 0 || priority > 99 {
		return "", fmt.Errorf("priority %d: must be 0 to 99", priority)
	}
	return fmt.Sprintf("queue-%02d-", priority), nil
}

// byPriority orders items by priority, and items of the same priority by
// sequence number.
func byPriority(a, b drivers.Child) int {
	label := func(c drivers.Child) string {
		_, name, _ := strings.Cut(c.Name, "-")
		return name[:strings.LastIndexByte(name, '-')+1]
	}
	return cmp.Or(cmp.Compare(label(a), label(b)), cmp.Compare(a.Seq, b.Seq))
}
