package recipe_test

import (
	"context"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/recipe"
	"github.com/stampede-bench/stampede/workloads/runtest"
)

func electionPlan(s drivers.Service, open func(c drivers.Conn, path string) recipe.Election) workloads.Plan {
	return workloads.Plan{Service: s, Clients: 5,
		Form:     workloads.Form{Recipe: "election", Name: "test", Family: workloads.Recipe, New: recipe.Elections(open)},
		Settings: workloads.Settings{Hold: time.Millisecond}, Duration: 100 * time.Millisecond, Seed: 1}
}

// TestElectionAcknowledges checks that each change of leader is a round, which takes two more
// writes if it is acknowledged.
func TestElectionAcknowledges(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		r := runtest.Measure(t, electionPlan(s, func(c drivers.Conn, path string) recipe.Election {
			return recipes.NewAcknowledgedElection(c, path)
		}))
		if r.WholeRounds < 100 || r.Whole.Writes != 4*r.WholeRounds {
			t.Errorf("%d writes in %d rounds; want 4 each of at least 100", r.Whole.Writes, r.WholeRounds)
		}
		if r.Safety.Violations != 0 || r.Safety.Checked != r.WholeRounds || !r.Safety.Tokens {
			t.Errorf("%+v; want %d leaders checked, with tokens, no violation", r.Safety, r.WholeRounds)
		}
		var phases []string
		for _, p := range r.Phases {
			phases = append(phases, p.Name)
		}
		if len(phases) != 3 || phases[0] != "campaign" || phases[1] != "failover" || phases[2] != "resign" {
			t.Errorf("phases %v, want campaign, failover, resign", phases)
		}
	})
}

func TestTwoLeadersAreAViolation(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		r := runtest.Measure(t, electionPlan(s, func(c drivers.Conn, path string) recipe.Election {
			return usurper{recipes.NewElection(c, path)}
		}))
		if r.Safety.Violations == 0 {
			t.Error("all clients lead at the same time without a violation")
		}
	})
}

// A usurper leads without an election.
type usurper struct{ *recipes.Election }

func (usurper) Campaign(ctx context.Context) (context.Context, error) { return ctx, nil }
