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

// A form is called herd-avoiding only where a naive form of its recipe has the herd, with as many clients on the same
// service.
func TestAFormAvoidsAHerdThatTheRunsShow(t *testing.T) {
	run := func(recipe, form, family string, clients int, notifications, reads float64) results.Run {
		r := results.Run{Recipe: recipe, Form: form, Family: family, Clients: clients, Rounds: 10}
		r.Cost.PerRound = &results.PerRound{Notifications: notifications, Reads: reads}
		return r
	}
	predecessor := run("lock", "predecessor", "recipe", 8, 1, 3)
	watch := run("barrier", "watch", "recipe", 8, 8, 16)
	byAnotherClient := run("lock", "one-node", "naive", 8, 7, 7)
	byAnotherClient.Backend.Client = "clientv3"
	elsewhere := run("lock", "one-node", "naive", 8, 7, 7)
	elsewhere.Backend.Name = "etcd"
	for _, c := range []struct {
		name string
		of   results.Run
		runs []results.Run
		want string
	}{
		{"the naive form has the herd", predecessor, []results.Run{predecessor, run("lock", "one-node", "naive", 8, 7, 7)}, "herd-avoiding"},
		{"the naive form wakes none", watch, []results.Run{watch, run("barrier", "poll", "naive", 8, 0, 60)}, ""},
		{"both wake one", predecessor, []results.Run{predecessor, run("lock", "one-node", "naive", 8, 1, 3)}, ""},
		{"no naive form ran", predecessor, []results.Run{predecessor}, ""},
		{"it ran with other clients", predecessor, []results.Run{predecessor, run("lock", "one-node", "naive", 16, 15, 15)}, ""},
		{"it ran through another client library", predecessor, []results.Run{predecessor, byAnotherClient}, "herd-avoiding"},
		{"it ran on another service", predecessor, []results.Run{predecessor, elsewhere}, ""},
		{"of another recipe", predecessor, []results.Run{predecessor, run("election", "one-node", "naive", 8, 7, 7)}, ""},
		{"a herd of reads", run("names", "cached", "recipe", 8, 8, 8), []results.Run{run("names", "lookup", "naive", 8, 0, 80)}, "herd-avoiding"},
		{"a naive form", run("lock", "one-node", "naive", 8, 7, 7), []results.Run{predecessor}, "naive"},
	} {
		if got := levels.KindOf(c.of, c.runs); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
