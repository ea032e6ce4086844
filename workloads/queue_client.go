package workloads

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/stampede-bench/stampede/drivers"
)

// A queueClient is a client that puts, takes, or alternates between the two.
type queueClient struct {
	*queueWorkload
	seat        *Seat
	queue       PriorityQueue
	puts, takes bool
	taker       taker
	place       int // its position among the consumers
}

func (w *queueWorkload) join(s *Seat) (*queueClient, error) {
	q, err := w.open(s.Conn, w.site)
	if err != nil {
		return nil, err
	}
	return &queueClient{queueWorkload: w, seat: s, queue: q, taker: taker{client: s.Index}}, nil
}

// Turn puts an item or takes one. A producer waits for room, so that a queue with slow consumers
// does not grow without bound.
func (c *queueClient) Turn(ctx context.Context) (rounds int64, err error) {
	if c.puts {
		due, ok := c.seat.Arrive(ctx, c.think)
		if !ok {
			return 0, nil
		}
		select {
		case c.room <- struct{}{}:
		case <-c.seat.Stopping:
			return 0, nil
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
		added, err := c.putItem(ctx, parcel{priority: c.seat.Rand.IntN(c.priorities), room: c.room}, due)
		if err != nil {
			return 0, err
		}
		if !added {
			c.seat.fails()
			return 0, nil
		}
	}
	if c.takes {
		rounds, err = c.takeItem(ctx)
		c.seat.keep(ctx, c.hold)
	}
	return rounds, err
}

// Finish takes the items that are left in the queue. The last producer to finish puts an end item
// for each consumer, behind all other items. So no consumer has to cancel a wait, and an end item
// is a round like any other.
func (c *queueClient) Finish(ctx context.Context) (rounds int64, err error) {
	for c.puts && c.endIsDue() {
		added, err := c.putItem(ctx, parcel{priority: endPriority, end: true}, time.Now())
		if err != nil {
			return 0, err
		}
		if added {
			c.endPut()
		}
	}
	for c.takes && !c.hasEnded() {
		taken, err := c.takeItem(ctx)
		if err != nil {
			return rounds, err
		}
		rounds += taken
	}
	return rounds, nil
}

// putItem puts an item that was due. It reports whether the item is certain to have been added.
func (c *queueClient) putItem(ctx context.Context, item parcel, due time.Time) (added bool, err error) {
	began := time.Now()
	item.due = due
	p := c.check.send(item, c.seat.Index, began)
	err = c.queue.Put(ctx, p.priority, p.bytes())
	now := time.Now()
	c.check.sentOff(p, err)
	if err != nil {
		return false, survived(fmt.Errorf("put: %w", err))
	}
	c.put.Record(now.Sub(began), now.Sub(due))
	return true, nil
}

// takeItem takes an item. It returns 1 round, or 0 if the take is in doubt.
func (c *queueClient) takeItem(ctx context.Context) (taken int64, err error) {
	began := time.Now()
	t := c.check.take(&c.taker)
	c.line.Asked(c.place)
	c.seat.Marks.PhaseBegin()
	item, err := c.queue.Take(ctx)
	now := time.Now()
	c.seat.Marks.PhaseEnd()
	if err != nil {
		err = fmt.Errorf("take: %w", err)
	}
	if err != nil && (item == nil || errors.Is(err, drivers.ErrInDoubt)) {
		c.line.GaveUp(c.place)
		c.note(c.check.doubtful(item))
		return 0, survived(err)
	}
	c.line.Granted(c.place)
	c.take.Record(now.Sub(began), now.Sub(began))
	if p := c.check.taken(t, item); p != nil {
		c.handoff.Record(now.Sub(p.sent), now.Sub(p.due))
		c.note(p)
	}
	return 1, err
}

// note records that the consumer has reached the end if the parcel is an end item. The parcel may
// be nil.
func (c *queueClient) note(p *parcel) {
	if p == nil || !p.end {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended[c.seat.Index] = true
	c.complete = len(c.ended) == c.consumers
}

func (c *queueClient) hasEnded() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended[c.seat.Index]
}

// endIsDue records that this producer puts no more items. It reports whether all producers have
// finished and a consumer has no end item yet.
func (c *queueClient) endIsDue() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.finished[c.seat.Index] = true
	return len(c.finished) == c.producers && c.ends < c.consumers
}

func (c *queueClient) endPut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ends++
}

// survived drops the error of a write that is in doubt. The delivery check accounts for it, and
// unless the session is lost the client continues.
func survived(err error) error {
	if errors.Is(err, drivers.ErrInDoubt) && !errors.Is(err, drivers.ErrSessionLost) {
		return nil
	}
	return err
}
