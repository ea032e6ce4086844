package recipetest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/recipe"
)

func queueLosses() []queueCase {
	return []queueCase{
		{"200 replies to puts are lost",
			"The service added the item, the reply was lost, and the session is still alive. A producer that puts the item again without looking for its GUID duplicates it.",
			putsLost},
		{"replies to takes are lost",
			"The consumer does not know whether it has removed the item. If it is the only consumer, it has; otherwise it must return ErrInDoubt. No item is delivered twice, and no place in a queue of consumers is left behind.",
			takesLost},
		{"any replies are lost",
			"Sessions survive broken connections, so whichever replies are lost, no item is taken twice, and only items reported as in doubt are lost.",
			anyLost},
	}
}

// putsLost loses the reply to the first create of every put. It keeps the queue short, because
// every list returns the whole queue.
func putsLost(ctx context.Context, x *queueTrial) {
	const rounds, items = 10, 20
	producer, consumer := x.worker(ctx), x.worker(ctx)
	var fresh atomic.Bool
	var lost atomic.Int64
	producer.lose(func(m drivers.Message) bool { return m.Op == drivers.OpCreate && theFirst(&fresh, &lost) })
	for range rounds {
		for i := range items {
			fresh.Store(true)
			producer.puts(ctx, 0, fmt.Sprint("item ", i))
		}
		x.expect(ctx, items, 0)
		for i := range items {
			consumer.takes(ctx, fmt.Sprint("item ", i))
		}
		x.expect(ctx, 0, 0)
	}
	if lost.Load() != rounds*items {
		x.Errorf("%d replies were lost, want %d", lost.Load(), rounds*items)
	}
}

// theFirst reports whether this reply is the first since fresh was set, and counts it if so.
func theFirst(fresh *atomic.Bool, lost *atomic.Int64) bool {
	lose := fresh.Swap(false)
	if lose {
		lost.Add(1)
	}
	return lose
}

// takesLost has a lone consumer lose the reply to the first create of each take, if it waits in
// a line, and to the first delete.
func takesLost(ctx context.Context, x *queueTrial) {
	const items = 20
	producer, consumer := x.worker(ctx), x.worker(ctx)
	for i := range items {
		producer.puts(ctx, 0, fmt.Sprint("item ", i))
	}
	var create, remove atomic.Bool
	var lost atomic.Int64
	consumer.lose(func(m drivers.Message) bool {
		return m.Op == drivers.OpCreate && theFirst(&create, &lost) || m.Op == drivers.OpDelete && theFirst(&remove, &lost)
	})
	for i := range items {
		create.Store(true)
		remove.Store(true)
		item, err := consumer.queue.Take(ctx)
		if err != nil && !errors.Is(err, drivers.ErrInDoubt) {
			x.Fatalf("take: %v", err)
		}
		if want := fmt.Sprint("item ", i); string(item) != want {
			x.Fatalf("took %q (%v), want %q", item, err, want)
		}
	}
	if lost.Load() < items {
		x.Errorf("%d replies were lost, want at least %d", lost.Load(), items)
	}
	x.expect(ctx, 0, 0)
}

func anyLost(ctx context.Context, x *queueTrial) {
	for seed := range x.seeds() {
		x.trade(ctx, seed, func(rng *rand.Rand) func(drivers.Message) bool {
			dice := rand.New(rand.NewPCG(rng.Uint64(), 0))
			return func(m drivers.Message) bool {
				return (m.Op.IsRead() || m.Op.IsWrite()) && dice.IntN(8) == 0
			}
		}).allTaken(x)
		x.closeClients()
		for _, dir := range []string{x.site.Items, x.site.Consumers} { // end markers that are left over
			if err := x.clear(ctx, dir); err != nil {
				x.Fatalf("clearing %s: %v", dir, err)
			}
			x.put(ctx, dir[len(x.dir):], nil)
		}
	}
}

// costCases returns the cost cases of the form.
func (f QueueForm) costCases(begin func(context.Context, *trial) *queueTrial) []testCase {
	form := workloads.Form{Recipe: f.Recipe, Name: f.Name, Family: f.family(), New: f.workload()}
	settings := workloads.Settings{Queue: workloads.QueueSettings{Items: 5}}
	return append([]testCase{
		{"settled cost", whySettledCost, func(ctx context.Context, x *trial) { x.settledRuns(ctx, form, settings) }},
	}, casesOf(begin, []queueCase{{"identities", whyIdentities, queueIdentities}})...)
}

func queueIdentities(ctx context.Context, x *queueTrial) {
	model := x.model(x.form.Recipe, x.form.Name)
	x.trade(ctx, 1, nil)
	x.rest(ctx)
	x.checkIdentities(model, x.ledger.read(), tradeRounds, tradeRounds)
}

// workload returns the constructor of the form's workload.
func (f QueueForm) workload() workloads.Constructor {
	open := func(c drivers.Conn, items, consumers string, mode drivers.Mode) recipe.PriorityQueue {
		return f.New(c, recipe.QueueSite{Items: items, Consumers: consumers, Mode: mode})
	}
	if f.Recipe == "priority-queue" {
		return recipe.PriorityQueuesWithConsumers(open)
	}
	return recipe.QueuesWithConsumers(func(c drivers.Conn, items, consumers string, mode drivers.Mode) recipe.Queue {
		return unprioritized{open(c, items, consumers, mode)}
	})
}

// unprioritized is a queue whose items have no priorities.
type unprioritized struct{ recipe.PriorityQueue }

func (q unprioritized) Put(ctx context.Context, item []byte) error {
	return q.PriorityQueue.Put(ctx, 0, item)
}

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
