package levels_test

import (
	"math"
	"testing"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/levels"
	"github.com/stampede-bench/stampede/results/resulttest"
)

func TestGrowth(t *testing.T) {
	some := func(row func(int64) results.Settled) (all []results.Settled) {
		for _, n := range []int64{16, 32, 64, 128} {
			all = append(all, row(n))
		}
		return all
	}
	near := func(what string, got *float64, want float64) {
		t.Helper()
		if got == nil || math.Abs(*got-want) > 0.03 {
			t.Errorf("%s: exponent %v, want %v", what, got, want)
		}
	}
	flat := levels.GrowthOf(some(resulttest.PredecessorCount))
	near("notifications of the recipe", flat.Notifications, 0)
	near("operations of the recipe", flat.Operations, 0)
	herd := levels.GrowthOf(some(resulttest.OneNodeCount))
	near("notifications of the naive form", herd.Notifications, 1)
	near("operations of the naive form", herd.Operations, 1)
	if g := levels.GrowthOf(some(func(n int64) results.Settled { return resulttest.CountRow("poll", int(n), 0, n, n, 0, 0) })); g.Notifications != nil {
		t.Errorf("no notifications grow as N^%v", *g.Notifications)
	}
	if g := levels.GrowthOf(some(resulttest.OneNodeCount)[:2]); g != nil {
		t.Error("two levels are too few for a fit")
	}
}

// If all clients take part in each round, more clients do not mean more rounds.
func TestGrowthOfOneRoundForAll(t *testing.T) {
	var barrier, commit []results.Settled
	for _, n := range []int64{4, 8, 16, 64} {
		one := resulttest.CountRow("watch", int(n), n, 2*n, 1, 0, n)
		one.Rounds = 1
		barrier = append(barrier, one)
		one = resulttest.CountRow("all-watch-all", int(n), n*n, 2*n*n, n, 0, n)
		one.Rounds = 1
		commit = append(commit, one)
	}
	for want, some := range map[float64][]results.Settled{1: barrier, 2: commit} {
		if got := levels.GrowthOf(some).Notifications; got == nil || math.Abs(*got-want) > 1e-9 {
			t.Errorf("notifications grow with exponent %v, want %v", got, want)
		}
	}
}
