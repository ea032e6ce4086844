package recipetest

import (
	"github.com/stampede-bench/stampede/workloads/cost"
)

// expectCost plays the given number of rounds and compares their cost with the model. play
// calls rested whenever everything has come to rest after a write.
func (x *scene) expectCost(model cost.Model, p cost.Params, rounds int64, play func(rested func())) {
	x.Helper()
	before := x.ledger.read()
	seen, largest := before.Notifications, int64(0)
	play(func() {
		now := x.ledger.read().Notifications
		largest, seen = max(largest, now-seen), now
	})
	got, want := x.ledger.read().Sub(before), model.Settled(p)
	for _, c := range []struct {
		what string
		got  int64
		want cost.Term
	}{
		{"notifications", got.Notifications, want.Notifications},
		{"reads", got.Reads, want.Reads},
		{"writes", got.Writes, want.Writes},
		{"failed writes", got.FailedWrites, want.FailedWrites},
		{"the largest fan-out", largest, want.LargestFanout},
	} {
		if c.got != c.want.Value {
			x.Errorf("N = %d: %s %d ≠ %d = %s", p.Clients, c.what, c.got, c.want.Value, c.want.Formula)
		}
	}
	for _, i := range model.Identities {
		if left, right, holds := i.Check(got, rounds); !holds {
			x.Errorf("after %d rounds %s does not hold: %d and %d", rounds, i.Formula, left, right)
		}
	}
}
