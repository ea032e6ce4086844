package recipetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
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
	x.checkIdentities(model, x.ledger.read(), tradeRounds)
}

// workload returns the constructor of the form's workload.
func (f QueueForm) workload() func(workloads.Settings) workloads.Workload {
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
