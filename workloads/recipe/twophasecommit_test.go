package recipe_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/recipe"
	"github.com/stampede-bench/stampede/workloads/runtest"
)

func runCommit(t *testing.T, s drivers.Service, abortRate float64, p recipe.Protocol) *metrics.Record {
	t.Helper()
	return runtest.Measure(t, workloads.Plan{Service: s, Clients: 5, Seed: 1,
		Form: workloads.Form{Recipe: "two-phase-commit", Name: "test", Family: workloads.Recipe,
			New: recipe.TwoPhaseCommits(p)},
		Settings: workloads.Settings{Hold: time.Millisecond, AbortRate: abortRate},
		Warmup:   20 * time.Millisecond, Duration: 200 * time.Millisecond})
}

func commitProtocol() recipe.Protocol {
	return recipe.Protocol{
		Site: func(c drivers.Conn, path string, sites []string, mine string) recipe.Transaction {
			return recipes.NewTransaction(c, path, sites, mine)
		},
		Coordinator: func(c drivers.Conn, path string, sites []string) recipe.Coordinator {
			return recipes.NewCoordinator(c, path, sites)
		},
	}
}

func TestRunCommits(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		for _, rate := range []float64{0, 0.3, 1} {
			r := runCommit(t, s, rate, commitProtocol())
			// Only the hold takes time here. A round may end at each edge of the window.
			if r.Rounds < 199 || r.Rounds > 201 {
				t.Errorf("%d rounds, want 200", r.Rounds)
			}
			if want := 6 * r.WholeRounds; r.Safety.Violations != 0 || r.Safety.Checked != want {
				t.Errorf("%+v; want %d checks and no violation", r.Safety, want)
			}
			if rate == 0 && r.Whole.Writes != 6*r.WholeRounds {
				t.Errorf("%d writes in %d rounds of 5 sites, want 6 each", r.Whole.Writes, r.WholeRounds)
			}
		}
	})
}

// A headstrong site takes its own vote as the decision.
type headstrong struct {
	recipe.Transaction
	wants *bool
}

func (h headstrong) Vote(ctx context.Context, commit bool) error {
	*h.wants = commit
	return h.Transaction.Vote(ctx, commit)
}

func (h headstrong) Decision(ctx context.Context) (bool, error) {
	_, err := h.Transaction.Decision(ctx)
	return *h.wants, err
}

func TestRunCatchesSitesThatDecideForThemselves(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		p := commitProtocol()
		site := p.Site
		p.Site = func(c drivers.Conn, path string, sites []string, mine string) recipe.Transaction {
			return headstrong{site(c, path, sites, mine), new(bool)}
		}
		if r := runCommit(t, s, 0.3, p); r.Safety.Violations == 0 {
			t.Error("some sites commit and others abort without a violation")
		}
	})
}

// TestRunSurvivesASessionLostInATransaction checks that a site or a coordinator that loses its
// session takes part in the same transaction again.
func TestRunSurvivesASessionLostInATransaction(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		var sites, coordinators atomic.Int64
		sites.Store(300) // in the window
		coordinators.Store(80)
		p := commitProtocol()
		site, coordinator := p.Site, p.Coordinator
		p.Site = func(c drivers.Conn, path string, all []string, mine string) recipe.Transaction {
			if sites.Add(-1) == 0 {
				c.Close()
			}
			return site(c, path, all, mine)
		}
		p.Coordinator = func(c drivers.Conn, path string, all []string) recipe.Coordinator {
			if coordinators.Add(-1) == 0 {
				c.Close()
			}
			return coordinator(c, path, all)
		}
		r := runCommit(t, s, 0.3, p)
		if n := r.Errors[drivers.ErrSessionLost.Error()]; n != 2 || r.Rounds < 150 {
			t.Errorf("%d lost sessions and %d rounds, want 2 and many", n, r.Rounds)
		}
		if r.Safety.Violations != 0 || r.Safety.Checked != 6*r.WholeRounds {
			t.Errorf("%+v; want no violation in %d checks", r.Safety, 6*r.WholeRounds)
		}
	})
}
