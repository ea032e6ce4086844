package recipetest

import (
	"context"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads/cost"
)

func lockCosts() []lockCase {
	return []lockCase{
		{"settled cost",
			"Clients that come one at a time and let go one at a time cost exactly what the formulas say: that is what tells a herd from none.",
			settledCosts},
		{"identities",
			"Some relations between the counts hold under any schedule.",
			identities},
	}
}

// settledCosts compares the model with the counts, with new clients for each N.
func settledCosts(ctx context.Context, x *lockTrial) {
	model, known := x.form.model()
	if !known {
		x.Skipf("no model of %s", x.form.Name)
	}
	const polls = 3
	for _, n := range x.sizes() {
		p := cost.Params{Clients: n, Polls: polls, Writers: (n + 1) / 2}
		before := x.ledger.read()
		largest := x.settledTurns(ctx, p)
		got := x.ledger.read().Sub(before)
		want := model.Settled(p)
		x.compare(n, "notifications", got.Notifications, want.Notifications)
		x.compare(n, "reads", got.Reads, want.Reads)
		x.compare(n, "writes", got.Writes, want.Writes)
		x.compare(n, "failed writes", got.FailedWrites, want.FailedWrites)
		x.compare(n, "the largest fan-out", largest, want.LargestFanout)
		x.holdTrue(model, got, n)
		x.dismiss()
	}
}

// settledTurns has each client take one turn. It returns the most notifications between two
// rests: in that time, at most one write wakes other clients.
func (x *lockTrial) settledTurns(ctx context.Context, p cost.Params) (largest int64) {
	seen := x.ledger.read().Notifications
	rested := func() {
		now := x.ledger.read().Notifications
		largest, seen = max(largest, now-seen), now
	}
	clients := make([]*lockClient, p.Clients)
	for i := range clients {
		clients[i] = x.client(ctx)
		clients[i].take(int64(i) >= p.Writers)
		clients[i].ask(ctx)
		x.rest(ctx)
		rested()
	}
	for waiting := clients; len(waiting) > 0; {
		for range p.Polls - 1 {
			x.tick(ctx)
		}
		i := x.holder(ctx, waiting)
		waiting[i].release(ctx)
		waiting = append(waiting[:i:i], waiting[i+1:]...)
		x.settle(ctx)
		rested()
	}
	return largest
}

func (x *lockTrial) compare(n int64, what string, got int64, want cost.Term) {
	x.Helper()
	if got != want.Value {
		x.Errorf("N = %d: %s %d ≠ %d = %s", n, what, got, want.Value, want.Formula)
	}
}

func (x *lockTrial) holdTrue(model cost.Model, counts metrics.Counts, rounds int64) {
	x.Helper()
	for _, i := range model.Identities {
		if left, right, holds := i.Check(counts, rounds); !holds {
			x.Errorf("after %d rounds %s does not hold: %d and %d", rounds, i.Formula, left, right)
		}
	}
}

// identities checks the identities after clients have competed freely.
func identities(ctx context.Context, x *lockTrial) {
	model, known := x.form.model()
	if !known {
		x.Skipf("no model of %s", x.form.Name)
	}
	const clients = 8
	turns := x.turns()
	x.compete(ctx, clients, turns, 1, nil)
	x.rest(ctx)
	x.holdTrue(model, x.ledger.read(), int64(clients*turns))
}
