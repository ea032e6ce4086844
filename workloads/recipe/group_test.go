package recipe_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/naive"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/recipe"
	"github.com/stampede-bench/stampede/workloads/runtest"
)

// between is an offset by which a window opens and closes after one change and before the next, in
// runs where a change takes no time and the next one comes a millisecond later.
const between = 500 * time.Microsecond

func runGroup(t *testing.T, s drivers.Service, workload workloads.Constructor) *metrics.Record {
	t.Helper()
	return runtest.Measure(t, workloads.Plan{Service: s, Clients: 5,
		Form:     workloads.Form{Recipe: "group", Name: "test", Family: workloads.Recipe, New: workload},
		Settings: workloads.Settings{Think: time.Millisecond}, Warmup: between, Duration: 100 * time.Millisecond, Seed: 1})
}

func ring(c drivers.Conn, path string) recipe.Group {
	return recipes.NewGroup(c, path)
}

func watchers(c drivers.Conn, path string) recipe.Group {
	return naive.NewGroup(c, path)
}

// TestGroupRounds checks that a round is one change of membership, seen by all members that are
// notified of it.
func TestGroupRounds(t *testing.T) {
	for name, workload := range map[string]workloads.Constructor{
		"ring": recipe.Rings(ring), "all watch": recipe.Groups(watchers),
	} {
		t.Run(name, func(t *testing.T) {
			runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
				r := runGroup(t, s, workload)
				if r.WholeRounds < 99 || r.Whole.Writes != r.WholeRounds {
					t.Errorf("%d writes in %d rounds, want one each in about 100", r.Whole.Writes, r.WholeRounds)
				}
				if r.Safety.Violations != 0 || r.Safety.Checked < 4*(r.WholeRounds-5) {
					t.Errorf("%+v; want what four or more see checked in each round, and no violation", r.Safety)
				}
				if len(r.Phases) != 2 || r.Phases[0].Service.TotalCount() < r.Rounds || r.Phases[1].Service.TotalCount() != r.Rounds {
					t.Errorf("phases %v", r.Phases)
				}
			})
		})
	}
}

// TestARingReadsLess checks that every member that watches everything reads once per change, and
// that only a few members of a ring do.
func TestARingReadsLess(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		few, all := runGroup(t, s, recipe.Rings(ring)), runGroup(t, s, recipe.Groups(watchers))
		if n := all.WholeRounds; all.Whole.Reads < 4*(n-5) {
			t.Errorf("%d reads in %d rounds where all watch, want 4 or 5 each", all.Whole.Reads, n)
		}
		if n := few.WholeRounds; few.Whole.Reads > 3*n+5 {
			t.Errorf("%d reads in %d rounds of a ring, want at most 3 each", few.Whole.Reads, n)
		}
	})
}

func TestGroupSurvivesLostSessions(t *testing.T) {
	for name, makeWorkload := range map[string]func(func(c drivers.Conn, path string) recipe.Group) workloads.Constructor{
		"ring": recipe.Rings[drivers.Conn, recipe.Group], "all watch": recipe.Groups[drivers.Conn, recipe.Group],
	} {
		open := watchers
		if name == "ring" {
			open = ring
		}
		t.Run(name, func(t *testing.T) {
			runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
				var opened atomic.Int64
				r := runGroup(t, s, makeWorkload(func(c drivers.Conn, path string) recipe.Group {
					g := open(c, path)
					if opened.Add(1) == 3 {
						g = &mortal{g, c, 5}
					}
					return g
				}))
				if n := r.Errors[drivers.ErrSessionLost.Error()]; n != 1 {
					t.Errorf("%d lost sessions counted, want 1", n)
				}
				if r.Safety.Violations != 0 || r.WholeRounds < 50 {
					t.Errorf("%d rounds, %q; want the others to go on, without a violation", r.WholeRounds, r.Safety.Details)
				}
			})
		})
	}
}

// A mortal member loses its session after a number of changes.
type mortal struct {
	recipe.Group
	conn drivers.Conn
	left int
}

func (g *mortal) Follow(ctx context.Context, see func([]string)) error {
	return g.Group.Follow(ctx, func(members []string) {
		if g.left--; g.left == 0 {
			g.conn.Close()
		}
		see(members)
	})
}

func TestABrokenGroupIsAViolation(t *testing.T) {
	for name, workload := range map[string]func(func(c drivers.Conn, path string) recipe.Group) workloads.Constructor{
		"ring": recipe.Rings[drivers.Conn, recipe.Group], "all watch": recipe.Groups[drivers.Conn, recipe.Group],
	} {
		wantCaught(t, name, func(t *testing.T, s drivers.Service) *metrics.Record {
			return runGroup(t, s, workload(func(c drivers.Conn, path string) recipe.Group {
				return dreamer{recipes.NewGroup(c, path)}
			}))
		})
	}
}

// A dreamer shows only the first list of members.
type dreamer struct{ *recipes.Group }

func (g dreamer) Follow(ctx context.Context, see func([]string)) error {
	seen := false
	return g.Group.Follow(ctx, func(members []string) {
		if !seen {
			see(members)
		}
		seen = true
	})
}
