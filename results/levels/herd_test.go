package levels_test

import (
	"testing"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/levels"
)

// The herd of a recipe is named by what its naive form costs, and how many of its writes were refused.
func TestHerdOf(t *testing.T) {
	run := func(recipe string, cost results.PerRound) results.Run {
		return results.Run{Recipe: recipe, Clients: 8, Cost: results.Cost{PerRound: &cost}}
	}
	returning := run("reconnect", results.PerRound{Writes: 8})
	returning.Reconnects = &results.Reconnects{BusiestTenth: 728}
	for _, c := range []struct {
		r                     results.Run
		title, count, refused string
	}{
		{run("lock", results.PerRound{Notifications: 4, Reads: 90, FailedWrites: 2}), "woken per release", "4 notifications", ""},
		{run("mirror", results.PerRound{Notifications: 10, Reads: 32.7}), "reads per round", "33 reads", ""},
		{run("names", results.PerRound{Reads: 1}), "reads per round", "1 read", ""},
		{run("member-state", results.PerRound{Writes: 3.73, FailedWrites: 2.73}), "writes per round", "3.7 writes", "; 2.7 of the 3.7 are refused"},
		{run("member-state", results.PerRound{Writes: 2}), "writes per round", "2 writes", ""},
		{returning, "attempts in 100 ms", "728 attempts", ""},
	} {
		h := levels.HerdOf(c.r)
		title, _ := h.Title(c.r)
		n, known := h.Figure.RunValue(c.r)
		if !known || title != c.title || h.Count(n) != c.count || h.Refused(c.r) != c.refused {
			t.Errorf("%s: %q, %q%q; want %q, %q%q", c.r.Recipe, title, h.Count(n), h.Refused(c.r), c.title, c.count, c.refused)
		}
	}
}
