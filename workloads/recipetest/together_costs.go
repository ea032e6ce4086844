package recipetest

import (
	"context"
	"time"

	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/cost"
)

// togetherCosts returns the cost cases of a form whose rounds include all clients.
func togetherCosts(form workloads.Form) []lockCase {
	return []lockCase{
		{"settled cost",
			"A round that goes one step at a time costs exactly what the formulas say: that is what tells a herd from none.",
			func(ctx context.Context, x *lockTrial) { x.settledRounds(ctx, form) }},
		{"identities",
			"Some relations between the counts hold under any schedule.",
			func(ctx context.Context, x *lockTrial) { x.freeRounds(ctx, form) }},
	}
}

func (x *lockTrial) settledRounds(ctx context.Context, form workloads.Form) {
	model, known := x.form.model()
	if !known {
		x.Skipf("no model of %v", form)
	}
	const polls = 3
	for _, n := range x.sizes() {
		s, err := workloads.Settle(ctx, x.service, form, int(n), workloads.Settings{Polls: polls})
		if err != nil {
			x.Fatalf("N = %d: %v", n, err)
		}
		want := model.Settled(cost.Params{Clients: n, Polls: polls})
		x.compare(n, "notifications", s.Counts.Notifications, want.Notifications)
		x.compare(n, "reads", s.Counts.Reads, want.Reads)
		x.compare(n, "writes", s.Counts.Writes, want.Writes)
		x.compare(n, "failed writes", s.Counts.FailedWrites, want.FailedWrites)
		x.compare(n, "the largest fan-out", s.Largest, want.LargestFanout)
		if s.Safety.Violations > 0 || s.Safety.Checked == 0 {
			x.Errorf("N = %d: %+v, want no violation", n, s.Safety)
		}
	}
}

func (x *lockTrial) freeRounds(ctx context.Context, form workloads.Form) {
	model, known := x.form.model()
	if !known {
		x.Skipf("no model of %v", form)
	}
	r, err := workloads.Run(ctx, workloads.Plan{Service: x.service, Form: form, Clients: 8, Rounds: 20, Seed: 1,
		Settings: workloads.Settings{Hold: time.Millisecond}})
	if err != nil {
		x.Fatalf("running freely: %v", err)
	}
	if r.Disturbed || r.Safety.Violations > 0 {
		x.Errorf("disturbed: %v, %+v; want whole rounds and no violation", r.Disturbed, r.Safety)
	}
	x.holdTrue(model, r.Whole, r.WholeRounds)
}
