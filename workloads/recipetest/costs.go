package recipetest

import (
	"context"
	"time"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/costmodel"
	"github.com/stampede-bench/stampede/workloads/settled"
)

const (
	whySettledCost = "Settled after each step, a form costs exactly what the cost model says, or is between its bounds. The cost is what shows whether a form causes herds."
	whyIdentities  = "Some relations between the counts hold under any schedule."
)

// model returns the cost model of a form. It skips the case if there is none.
func (x *trial) model(recipe, form string) costmodel.Model {
	x.Helper()
	model, known := costmodel.Of(recipe, form)
	if !known {
		x.Skipf("no cost model of %s/%s", recipe, form)
	}
	return model
}

// expectCost plays the given number of rounds and compares their cost with the model. play
// calls rested whenever everything has come to rest after a write. Between two rests, at most
// one write wakes other clients.
func (x *trial) expectCost(model costmodel.Model, p costmodel.Params, rounds int64, play func(rested func())) {
	x.Helper()
	before := x.ledger.read()
	seen, largest := before.Notifications, int64(0)
	play(func() {
		now := x.ledger.read().Notifications
		largest, seen = max(largest, now-seen), now
	})
	got := x.ledger.read().Sub(before)
	x.compareCosts(p.Clients, got, largest, model.Settled(p))
	x.checkIdentities(model, got, rounds)
}

// compareCosts compares counts with the model's, or with its bounds.
func (x *trial) compareCosts(n int64, got metrics.Counts, largest int64, least costmodel.Expected) {
	x.Helper()
	most := least.Upper()
	for _, c := range []struct {
		what        string
		got         int64
		least, most costmodel.Term
	}{
		{"notifications", got.Notifications, least.Notifications, most.Notifications},
		{"reads", got.Reads, least.Reads, most.Reads},
		{"writes", got.Writes, least.Writes, most.Writes},
		{"failed writes", got.FailedWrites, least.FailedWrites, most.FailedWrites},
		{"largest fan-out", largest, least.LargestFanout, most.LargestFanout},
	} {
		if c.got < c.least.Value || c.got > c.most.Value {
			x.Errorf("N = %d: %s %d, want %d = %s to %d = %s", n, c.what, c.got, c.least.Value, c.least.Formula, c.most.Value, c.most.Formula)
		}
	}
}

func (x *trial) checkIdentities(model costmodel.Model, counts metrics.Counts, rounds int64) {
	x.Helper()
	for _, i := range model.Identities {
		if left, right, holds := i.Check(counts, rounds); !holds {
			x.Errorf("after %d rounds %s does not hold: %d and %d", rounds, i.Formula, left, right)
		}
	}
}

// costCases returns the cost cases of a form whose runs package workloads plays.
func costCases(form workloads.Form) []testCase {
	return []testCase{
		{"settled cost", whySettledCost, func(ctx context.Context, x *trial) {
			x.settledRuns(ctx, form, workloads.Settings{Polls: 3})
		}},
		{"identities", whyIdentities, func(ctx context.Context, x *trial) { x.freeRun(ctx, form) }},
	}
}

// settledRuns compares the cost of settled runs of several sizes with the model.
func (x *trial) settledRuns(ctx context.Context, form workloads.Form, settings workloads.Settings) {
	model := x.model(form.Recipe, form.Name)
	for _, n := range x.sizes() {
		s, err := settled.Run(ctx, x.service, form, int(n), settings)
		if err != nil {
			x.Fatalf("N = %d: %v", n, err)
		}
		x.compareCosts(n, s.Counts, s.Largest, model.Settled(settings.Params(int(n))))
		if s.Safety.Violations > 0 || s.Safety.Checked == 0 {
			x.Errorf("N = %d: %+v, want no violation", n, s.Safety)
		}
	}
}

// freeRun checks the identities of a run in which clients do not wait for each other.
func (x *trial) freeRun(ctx context.Context, form workloads.Form) {
	model := x.model(form.Recipe, form.Name)
	r, err := workloads.Run(ctx, workloads.Plan{Service: x.service, Form: form, Clients: 8, Rounds: 20, Seed: 1,
		Settings: workloads.Settings{Hold: time.Millisecond}})
	if err != nil {
		x.Fatalf("running freely: %v", err)
	}
	if r.Disturbed || r.Safety.Violations > 0 {
		x.Errorf("disturbed: %v, %+v; want whole rounds and no violation", r.Disturbed, r.Safety)
	}
	x.checkIdentities(model, r.Whole, r.WholeRounds)
}
