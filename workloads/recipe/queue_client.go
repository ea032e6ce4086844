package recipe

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/check"
	"github.com/stampede-bench/stampede/workloads/divided"
)

// A queueClient is a client that puts, takes, or alternates between the two.
type queueClient struct {
	*queueWorkload
	slot        *workloads.Slot
	queue       PriorityQueue
	puts, takes bool
	took        bool // it has begun to take, in its session
	place       int  // its position among the consumers
}

func (w *queueWorkload) join(s *workloads.Slot) (*queueClient, error) {
	q, err := w.open(s.Conn, w.site)
	if err != nil {
		return nil, err
	}
	return &queueClient{queueWorkload: w, slot: s, queue: q}, nil
}

// Turn puts an item or takes one. A producer waits for room, so that a queue with slow consumers
// does not grow without bound.
func (c *queueClient) Turn(ctx context.Context) (rounds int64, err error) {
	if c.puts {
		due, ok := c.slot.Arrive(ctx, c.think)
		if !ok {
			return 0, nil
		}
		select {
		case <-c.room.places:
		case <-c.slot.Stopping:
			return 0, nil
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
		added, err := c.putItem(ctx, check.Item{Priority: c.slot.Rand.IntN(c.priorities), Free: c.room.gain, Counts: c.slot.DueInWindow(due)}, due)
		if err != nil {
			return 0, err
		}
		if !added {
			c.slot.ArrivalFailed()
			return 0, nil
		}
	}
	if c.takes && c.hasEnded() { // it stops later than the producers
		select {
		case <-c.slot.Stopping:
			return 0, nil
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
	}
	if c.takes {
		rounds, err = c.takeItem(ctx)
		c.slot.Hold(ctx, c.hold)
	}
	return rounds, err
}

// Finish takes the items that are left in the queue. When all producers have finished, the first puts an end
// item for each consumer, behind all other items. So no consumer has to cancel a wait, and an end item is a
// round like any other.
func (c *queueClient) Finish(ctx context.Context) (rounds int64, err error) {
	for c.puts {
		due, err := c.endIsDue(ctx)
		if err != nil {
			return 0, err
		}
		if !due {
			break
		}
		added, err := c.putItem(ctx, check.Item{Priority: endPriority, End: true}, time.Now())
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
func (c *queueClient) putItem(ctx context.Context, item check.Item, due time.Time) (added bool, err error) {
	began := time.Now()
	item.Due = due
	p := c.items.BeginPut(item, c.slot.Index, began)
	c.recorded.RecordAt(began, check.Step{Kind: check.Began, Name: handoffPhase, Client: c.slot.Index, Turn: p.Number(), Lag: began.Sub(due)})
	err = c.queue.Put(ctx, p.Priority, p.Bytes())
	now := time.Now()
	c.items.EndPut(p, err)
	if err != nil {
		return false, unlessInDoubt(fmt.Errorf("put: %w", err))
	}
	c.slot.Record(c.put, now.Sub(began), now.Sub(due))
	return true, nil
}

// takeItem takes an item. It returns 1 round, or 0 if the take is in doubt.
func (c *queueClient) takeItem(ctx context.Context) (taken int64, err error) {
	began := time.Now()
	c.items.BeginTake(c.slot.Index, !c.took)
	c.took = true
	c.waiting.Asked(c.place, began, false)
	c.slot.Marks.PhaseBegin()
	item, err := c.queue.Take(ctx)
	now := time.Now()
	c.slot.Marks.PhaseEnd()
	if err != nil {
		err = fmt.Errorf("take: %w", err)
	}
	if err != nil && (item == nil || errors.Is(err, drivers.ErrInDoubt)) {
		c.waiting.GaveUp(c.place, now)
		c.note(c.items.TakeInDoubt(c.slot.Index, item))
		return 0, unlessInDoubt(err)
	}
	c.waiting.Granted(c.place, now)
	c.slot.Record(c.take, now.Sub(began), now.Sub(began))
	p := c.items.EndTake(c.slot.Index, item)
	switch {
	case p.Sent.IsZero(): // a client of another process has put it
		reached := check.Step{Kind: check.Reached, Name: handoffPhase, Client: c.slot.Index, Turn: p.Number()}
		c.recorded.RecordAt(now, reached)
	case !c.atRate:
		c.slot.Record(c.handoff, now.Sub(p.Sent), now.Sub(p.Due))
	default: // the item's arrival decides, not the turn of the consumer
		c.handoff.End(now.Sub(p.Sent), now.Sub(p.Due), p.Counts)
	}
	c.note(p)
	return 1, err
}

// note records that the consumer has reached the end if the item is an end item.
func (c *queueClient) note(p *check.Item) {
	if !p.End {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended[c.slot.Index] = true
}

func (c *queueClient) hasEnded() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended[c.slot.Index]
}

// endIsDue records that this producer puts no more items. The first producer waits until all have finished.
// endIsDue then reports whether a consumer has no end item yet.
func (c *queueClient) endIsDue(ctx context.Context) (bool, error) {
	c.mu.Lock()
	again := c.finished[c.slot.Index]
	c.finished[c.slot.Index] = true
	due := c.ends < c.consumers
	c.mu.Unlock()
	if !again {
		c.exchange.Announce(finishedTopic, 0)
	}
	if !c.firstProducer() {
		return false, nil
	}
	return due, c.exchange.Await(ctx, finishedTopic, 0, c.producers)
}

// The topics by which the processes of a queue tell each other which items they have taken, which process
// gets a place for an item, and how many producers have finished.
const (
	takenTopic    = "taken"
	roomTopic     = "room"
	finishedTopic = "finished"
)

func (c *queueClient) endPut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ends++
}

// unlessInDoubt drops the error of a write that is in doubt. The delivery check accounts for it, and
// unless the session is lost the client continues.
func unlessInDoubt(err error) error {
	if errors.Is(err, drivers.ErrInDoubt) && !errors.Is(err, drivers.ErrSessionLost) {
		return nil
	}
	return err
}

// handoffPhase is the phase from a put to the take of the item, which may be in another process.
const handoffPhase = "handoff"

// initialPriority returns the priority of the i-th item that is in the queue from the beginning.
func (w *queueWorkload) initialPriority(i int) int { return w.priorities - 1 - i%w.priorities }

// producersBefore returns how many of the clients before the index put.
func (w *queueWorkload) producersBefore(index int) int { return index * w.producers / w.clients }

// firstProducer reports whether no client before this one puts.
func (c *queueClient) firstProducer() bool { return c.producersBefore(c.slot.Index) == 0 }

// shareOf returns the part of the backlog that this process has: at least one item, if it has producers.
func (w *queueWorkload) shareOf(backlog int) int {
	first, n := w.exchange.Sessions(w.clients)
	from, to := w.producersBefore(first), w.producersBefore(first+n)
	if from == to {
		return 0
	}
	return max(backlog*to/w.producers-backlog*from/w.producers, 1)
}

// divide makes the items those that the clients of this process put.
func (w *queueWorkload) divide() {
	w.items.Divide(w.exchange.Process, w.exchange.Processes, int64(w.chosen.Items), w.tellTaken)
	w.exchange.Handle(takenTopic, func(text string) {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			w.items.RecordRemoteTake(max(n, -n), n > 0)
		}
	})
	w.exchange.Handle(roomTopic, func(text string) {
		if text == strconv.Itoa(w.exchange.Process) {
			w.room.gain()
		}
	})
}

// tellTaken tells the process that has put an item that a consumer of this process took it. The number is
// negative if this process keeps its place.
func (w *queueWorkload) tellTaken(number int64, process int) {
	if w.room.keeps(process) {
		number = -number
	}
	w.exchange.Tell(takenTopic, strconv.FormatInt(number, 10))
}

// takeInitial tells the judge which items are in the queue from the beginning.
func (w *queueWorkload) takeInitial() {
	for i := range w.chosen.Items {
		s := check.Step{Client: noClient, Turn: int64(i) + 1, Value: int64(w.initialPriority(i))}
		for _, s.Kind = range []check.StepKind{check.Putting, check.Put} {
			w.judge.Take(check.TimedStep{Step: s})
		}
	}
}

// Judge judges which items were taken, and in which order.
func (w *queueWorkload) Judge(g divided.Gathered) divided.Findings {
	w.assign(g.Clients)
	w.takeInitial()
	for _, s := range check.Ordered(g.Steps) {
		w.judge.Take(s)
	}
	safety := w.Verdict()
	fairness := check.FairnessOf(g.Steps, g.Clients, g.Window)
	return divided.Findings{Safety: &safety, Fairness: &fairness}
}

// TakesArrivals reports whether the client takes arrivals: it puts.
func (w *queueWorkload) TakesArrivals(index int) bool {
	puts, _, _ := w.role(index)
	return puts
}
