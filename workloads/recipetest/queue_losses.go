package recipetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/cost"
)

func queueLosses() []queueCase {
	return []queueCase{
		{"200 replies to puts are lost",
			"The service added the item, the reply never arrived, and the session lives on. Whoever puts again without looking for its GUID doubles the item.",
			putsLost},
		{"replies to takes are lost",
			"The consumer does not know whether it removed the item. Alone it has it; among others it must say that it is in doubt. Nobody gets it twice, and no place in a line is left behind.",
			takesLost},
		{"any replies are lost",
			"Sessions survive broken connections, so whichever replies are lost nothing is taken twice, and nothing is lost but what is said to be in doubt.",
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
		x.dismiss()
		for _, dir := range []string{x.site.Items, x.site.Consumers} { // end markers that are left over
			if err := x.clear(ctx, dir); err != nil {
				x.Fatalf("clearing %s: %v", dir, err)
			}
			x.put(ctx, dir[len(x.dir):], nil)
		}
	}
}

func queueCosts() []queueCase {
	return []queueCase{
		{"settled cost",
			"Everything at rest between any two steps, a form costs what the formulas say, or is between their bounds: that is what tells a herd from none.",
			queueSettledCosts},
		{"identities",
			"Some relations between the counts hold under any schedule.",
			queueIdentities},
	}
}

// queueSettledCosts plays the workload's own settled run.
func queueSettledCosts(ctx context.Context, x *queueTrial) {
	model, known := cost.Of(x.form.Recipe, x.form.Name)
	if !known {
		x.Fatalf("no model of %s/%s", x.form.Recipe, x.form.Name)
	}
	form := workloads.Form{Recipe: x.form.Recipe, Name: x.form.Name, Family: x.form.family(), New: workloads.LinedPriorityQueues(
		func(c drivers.Conn, items, consumers string, mode drivers.Mode) workloads.PriorityQueue {
			return x.form.New(c, workloads.QueueSite{Items: items, Consumers: consumers, Mode: mode})
		})}
	for _, n := range x.sizes() {
		const items = 5
		s, err := workloads.Settle(ctx, x.service, form, int(n), workloads.Settings{Queue: workloads.QueueSettings{Items: items}})
		if err != nil {
			x.Fatalf("N = %d: %v", n, err)
		}
		least := model.Settled(cost.Params{Clients: n, Items: items})
		most := least.Upper()
		x.within(n, "notifications", s.Counts.Notifications, least.Notifications, most.Notifications)
		x.within(n, "reads", s.Counts.Reads, least.Reads, most.Reads)
		x.within(n, "writes", s.Counts.Writes, least.Writes, most.Writes)
		x.within(n, "failed writes", s.Counts.FailedWrites, least.FailedWrites, most.FailedWrites)
		x.within(n, "the largest fan-out", s.Largest, least.LargestFanout, most.LargestFanout)
	}
}

func (x *queueTrial) within(n int64, what string, got int64, least, most cost.Term) {
	x.Helper()
	if got < least.Value || got > most.Value {
		x.Errorf("N = %d: %s %d, want at least %d = %s, at most %d = %s",
			n, what, got, least.Value, least.Formula, most.Value, most.Formula)
	}
}

func queueIdentities(ctx context.Context, x *queueTrial) {
	model, _ := cost.Of(x.form.Recipe, x.form.Name)
	x.trade(ctx, 1, nil)
	x.rest(ctx)
	for _, i := range model.Identities {
		if left, right, holds := i.Check(x.ledger.read(), tradeRounds); !holds {
			x.Errorf("after %d rounds %s does not hold: %d and %d", tradeRounds, i.Formula, left, right)
		}
	}
}
