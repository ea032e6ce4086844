package recipe_test

import (
	"context"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/recipe"
	"github.com/stampede-bench/stampede/workloads/runtest"
)

func runNames(t *testing.T, s drivers.Service, open func(c drivers.Conn, path string) recipe.Names) *metrics.Record {
	t.Helper()
	return runtest.Measure(t, workloads.Plan{Service: s, Clients: 4,
		Form:     workloads.Form{Recipe: "names", Name: "test", Family: workloads.Recipe, New: recipe.NameServices(open)},
		Settings: workloads.Settings{Think: time.Millisecond, Names: 5, Lookups: 3}, Warmup: between, Duration: 100 * time.Millisecond, Seed: 1})
}

// TestNamesRounds checks that a round is one change that all clients find: each reads all names
// once, and then the changed one.
func TestNamesRounds(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		r := runNames(t, s, func(c drivers.Conn, path string) recipe.Names { return recipes.NewNames(c, path) })
		if n := r.WholeRounds; n < 50 || r.Whole.Writes != n || r.Whole.Notifications != 4*n || r.Whole.Reads != 4*(5+n) {
			t.Errorf("%d rounds with %d writes, %d notifications and %d reads; want at least 50, and 1, 4 and 4 each, and 20 reads",
				n, r.Whole.Writes, r.Whole.Notifications, r.Whole.Reads)
		}
		if r.Safety.Violations != 0 || r.Safety.Checked < 4*16*r.WholeRounds {
			t.Errorf("%+v; want every look-up checked, 16 or more of each client in each round, and no violation", r.Safety)
		}
		if len(r.Phases) != 3 {
			t.Fatalf("%d phases, want 3", len(r.Phases))
		}
		lookups, updates := r.Phases[0].Service.TotalCount(), r.Phases[2].Service.TotalCount()
		// A round whose update ends within the window may end after it, and the other way round.
		if lookups < 4*16*(r.Rounds-1) || updates < r.Rounds-1 || updates > r.Rounds+1 {
			t.Errorf("%d look-ups and %d updates of %d rounds", lookups, updates, r.Rounds)
		}
	})
}

func TestBrokenNamesAreAViolation(t *testing.T) {
	for name, open := range map[string]func(*recipes.Names) recipe.Names{
		"are kept for ever": func(n *recipes.Names) recipe.Names { return &petrified{Names: n, kept: map[string][]byte{}} },
		"are mixed up":      func(n *recipes.Names) recipe.Names { return mixed{n} },
	} {
		wantCaught(t, name, func(t *testing.T, s drivers.Service) *metrics.Record {
			return runNames(t, s, func(c drivers.Conn, path string) recipe.Names {
				return open(recipes.NewNames(c, path))
			})
		})
	}
}

// petrified names never change.
type petrified struct {
	*recipes.Names
	kept map[string][]byte
}

func (n *petrified) Lookup(ctx context.Context, name string) (value []byte, err error) {
	if n.kept[name] == nil {
		n.kept[name], err = n.Names.Lookup(ctx, name)
	}
	return n.kept[name], err
}

// mixed names return the value of another name.
type mixed struct{ *recipes.Names }

func (n mixed) Lookup(ctx context.Context, name string) ([]byte, error) {
	if name == "name-1" {
		name = "name-2"
	}
	return n.Names.Lookup(ctx, name)
}
