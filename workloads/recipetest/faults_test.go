package recipetest

import (
	"slices"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/internal/bubble"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/naive"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads"
)

// What is wrong with a lock is noticed under faults as well: it breaks its promise,
// fails, or comes to a stop, under one schedule of twelve at least. Those that are
// right get through all of them.
func TestMutantsUnderFaults(t *testing.T) {
	type (
		conn = drivers.Conn
		lock = workloads.Lock
	)
	// What only costs more, gives up badly, or leaves a holder in the belief that it
	// holds on is no promise that faults could make it break.
	hidden := []string{"leaves its node when it gives up", "does not say why it failed", "lists twice", "herds", "does not end the hold"}
	all := slices.DeleteFunc(mutants(), func(m mutant) bool { return slices.Contains(hidden, m.name) })
	all = append(all, mutant{name: "has nodes that outlive sessions", open: func(c conn, dir string) lock { return recipes.NewLock(undead{c}, dir) }})
	for _, m := range all {
		t.Run(m.name, func(t *testing.T) {
			for seed := range uint64(12) {
				if wrong := underFaults(t, m.open, seed); wrong != "" {
					t.Logf("seed %d: %s", seed, wrong)
					return
				}
			}
			t.Errorf("a lock that %s gets through", m.name)
		})
	}
	for name, open := range map[string]func(conn, string) lock{
		"predecessor": func(c conn, dir string) lock { return recipes.NewLock(c, dir) },
		"one-node":    func(c conn, dir string) lock { return naive.NewLock(c, dir) },
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(3) {
				if wrong := underFaults(t, open, seed); wrong != "" {
					t.Errorf("seed %d: %s", seed, wrong)
				}
			}
		})
	}
}

// underFaults runs the lock under the seed's schedule and returns what was wrong.
func underFaults(t *testing.T, open func(drivers.Conn, string) workloads.Lock, seed uint64) (wrong string) {
	bubble.Test(t, func(t *testing.T) {
		s, err := backends.InProcess()
		if err != nil {
			t.Fatal(err)
		}
		defer closed(t, s)
		form := workloads.Form{Recipe: "lock", Name: "tried", Family: workloads.Recipe, New: workloads.Locks(open)}
		p := workloads.Plan{Service: s, Form: form, Clients: 4, Duration: 15 * time.Second, Seed: seed,
			Settings: workloads.Settings{Hold: 50 * time.Millisecond, Think: 20 * time.Millisecond}}
		p.Faults = p.Nemesis(1500 * time.Millisecond)
		r, err := workloads.Run(t.Context(), p)
		switch {
		case err != nil:
			wrong = err.Error()
		case r.Safety.Violations > 0:
			wrong = r.Safety.Details[0]
		case slices.ContainsFunc(r.Doubts, func(d metrics.Doubt) bool { return d.Kind == metrics.Abandoned }):
			wrong = "it came to a stop"
		}
	})
	return wrong
}
