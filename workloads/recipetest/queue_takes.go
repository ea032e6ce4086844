package recipetest

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/stampede-bench/stampede/drivers"
)

func queueTakes() []queueCase {
	return []queueCase{
		{"each item to one consumer",
			"Whatever the schedule, each item that was put is taken once, and what a consumer takes of one producer's items of one priority comes in the order in which they were put.",
			eachToOne},
		{"in order",
			"A lone consumer takes the items in the order in which they were put, those of lower priority numbers first, also when one comes late.",
			inOrder},
		{"waits for an item",
			"Who finds the queue empty waits, and an item that comes goes to one of those who wait.",
			waitsForAnItem},
		{"the first to wait gives up", whyTakerGivesUp, takerGivesUp(0)},
		{"the second to wait gives up", whyTakerGivesUp, takerGivesUp(1)},
		{"the last to wait gives up", whyTakerGivesUp, takerGivesUp(3)},
		{"gives up too late",
			"A consumer that gives up when it has begun to remove an item has it all the same: otherwise it would be lost.",
			givesUpTooLate},
		{"the session of the first to wait is lost", whyTakerLost, takerCloses(0)},
		{"the session of the second to wait is lost", whyTakerLost, takerCloses(1)},
		{"the session of the last to wait is lost", whyTakerLost, takerCloses(3)},
		{"ephemeral items",
			"Items that were asked to be ephemeral go with their producer's session, and nobody waits for them.",
			ephemeralItems},
	}
}

const (
	whyTakerGivesUp = "A consumer that gives up says why, leaves nothing behind, and takes nothing; the others get the items."
	whyTakerLost    = "A consumer whose session is lost says so, and the others get the items."
)

func eachToOne(ctx context.Context, x *queueTrial) {
	for seed := range x.seeds() {
		x.trade(ctx, seed, nil).allTaken(x)
		x.expect(ctx, 0, 0)
		x.dismiss()
	}
}

func inOrder(ctx context.Context, x *queueTrial) {
	producer, consumer := x.worker(ctx), x.worker(ctx)
	type entry struct {
		priority int
		item     string
	}
	var queue []entry
	put := func(priority int) {
		e := entry{priority, fmt.Sprintf("item %d of priority %d", len(queue), priority)}
		queue = append(queue, e)
		producer.puts(ctx, e.priority, e.item)
		if x.form.Recipe == "priority-queue" {
			slices.SortStableFunc(queue, func(a, b entry) int { return cmp.Compare(a.priority, b.priority) })
		}
		x.rest(ctx)
	}
	take := func() {
		consumer.takes(ctx, queue[0].item)
		queue = queue[1:]
		x.rest(ctx)
	}
	for _, priority := range []int{5, 12, 5, 99, 0, 12} {
		put(priority)
	}
	for range 3 {
		take()
	}
	put(4) // ahead of all remaining items
	put(12)
	for len(queue) > 0 {
		take()
	}
	x.expect(ctx, 0, 0)
}

func waitsForAnItem(ctx context.Context, x *queueTrial) {
	waiting := x.waiting(ctx, 4)
	x.expect(ctx, 0, 4)
	x.serve(ctx, waiting)
}

func takerGivesUp(place int) func(context.Context, *queueTrial) {
	return func(ctx context.Context, x *queueTrial) {
		waiting := x.waiting(ctx, 4)
		w := waiting[place]
		w.taking.cancel(errGivenUp)
		w.failed(ctx, w.taking, errGivenUp)
		x.rest(ctx)
		x.expect(ctx, 0, 3)
		x.serve(ctx, slices.Delete(waiting, place, place+1))
	}
}

// givesUpTooLate cancels the context when the reply to the delete of the item has reached the
// client but not yet the caller.
func givesUpTooLate(ctx context.Context, x *queueTrial) {
	w := x.worker(ctx)
	x.worker(ctx).puts(ctx, 0, "the only one")
	giving, giveUp := context.WithCancelCause(ctx)
	w.lose(func(m drivers.Message) bool {
		if m.Op == drivers.OpDelete {
			giveUp(errGivenUp)
		}
		return false
	})
	w.take(giving)
	w.returned(ctx, w.taking)
	if w.item != "the only one" {
		x.Errorf("the consumer has %q (%v), want the item that it deleted", w.item, w.taking.err)
	}
	x.expect(ctx, 0, 0)
}

func takerCloses(place int) func(context.Context, *queueTrial) {
	return func(ctx context.Context, x *queueTrial) {
		waiting := x.waiting(ctx, 4)
		waiting[place].close()
		x.rest(ctx)
		waiting[place].failed(ctx, waiting[place].taking, drivers.ErrSessionLost)
		x.expect(ctx, 0, 3)
		x.serve(ctx, slices.Delete(waiting, place, place+1))
	}
}

func ephemeralItems(ctx context.Context, x *queueTrial) {
	x.site.Mode = drivers.Ephemeral
	mortal, other, consumer := x.worker(ctx), x.worker(ctx), x.worker(ctx)
	for i := range 4 {
		mortal.puts(ctx, 0, fmt.Sprint("mortal ", i))
		other.puts(ctx, 0, fmt.Sprint("other ", i))
	}
	consumer.takes(ctx, "mortal 0")
	mortal.close()
	x.rest(ctx)
	x.expect(ctx, 4, 0)
	for i := range 4 {
		consumer.takes(ctx, fmt.Sprint("other ", i))
	}
	consumer.take(ctx)
	x.rest(ctx)
	if consumer.has() {
		x.Errorf("the queue is empty, and the consumer took %q", consumer.item)
	}
	x.serve(ctx, []*worker{consumer})
}

// returned waits until a call returns.
func (w *worker) returned(ctx context.Context, c *call) {
	w.x.Helper()
	select {
	case <-c.done:
	case <-ctx.Done():
		w.x.Fatalf("a take does not return: %v", context.Cause(ctx))
	}
}
