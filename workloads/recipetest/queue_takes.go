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
			"Under any schedule, each item that was put is taken once, and a consumer takes one producer's items of one priority in the order in which they were put.",
			eachToOne},
		{"in order",
			"A single consumer takes the items in the order in which they were put, lower priority numbers first, even if such an item comes late.",
			inOrder},
		{"waits for an item",
			"A consumer that finds the queue empty waits, and the next item goes to one of the waiting consumers.",
			waitsForAnItem},
		{"the first to wait cancels", whyTakerCancels, takerCancels(0)},
		{"the second to wait cancels", whyTakerCancels, takerCancels(1)},
		{"the last to wait cancels", whyTakerCancels, takerCancels(3)},
		{"canceled after the delete",
			"A consumer that is canceled after it has begun to remove an item gets the item, which would be lost otherwise.",
			canceledAfterDelete},
		{"the session of the first to wait is lost", whyTakerLost, takerCloses(0)},
		{"the session of the second to wait is lost", whyTakerLost, takerCloses(1)},
		{"the session of the last to wait is lost", whyTakerLost, takerCloses(3)},
		{"ephemeral items",
			"Ephemeral items end with their producer's session, and no consumer waits for them.",
			ephemeralItems},
	}
}

const (
	whyTakerCancels = "A consumer that cancels returns the cause, leaves nothing behind and takes no item. The others get the items."
	whyTakerLost    = "A consumer whose session is lost returns ErrSessionLost. The others get the items."
)

func eachToOne(ctx context.Context, x *queueTrial) {
	for seed := range x.seeds() {
		x.trade(ctx, seed, nil).allTaken(x)
		x.expect(ctx, 0, 0)
		x.closeClients()
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

func takerCancels(place int) func(context.Context, *queueTrial) {
	return func(ctx context.Context, x *queueTrial) {
		waiting := x.waiting(ctx, 4)
		w := waiting[place]
		w.last().isCanceled(ctx)
		x.rest(ctx)
		x.expect(ctx, 0, 3)
		x.serve(ctx, slices.Delete(waiting, place, place+1))
	}
}

// canceledAfterDelete cancels the context when the reply to the delete of the item has reached the
// client but not yet the caller.
func canceledAfterDelete(ctx context.Context, x *queueTrial) {
	w := x.worker(ctx)
	x.worker(ctx).puts(ctx, 0, "the only item")
	canceled, cancel := context.WithCancelCause(ctx)
	w.lose(func(m drivers.Message) bool {
		if m.Op == drivers.OpDelete {
			cancel(errCanceled)
		}
		return false
	})
	w.take(canceled)
	w.last().wait(ctx)
	if w.item != "the only item" {
		x.Errorf("the consumer has %q (%v), want the item that it deleted", w.item, w.last().err)
	}
	x.expect(ctx, 0, 0)
}

func takerCloses(place int) func(context.Context, *queueTrial) {
	return func(ctx context.Context, x *queueTrial) {
		waiting := x.waiting(ctx, 4)
		waiting[place].close()
		x.rest(ctx)
		waiting[place].last().fails(ctx, drivers.ErrSessionLost)
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
