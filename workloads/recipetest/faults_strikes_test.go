package recipetest

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads/recipe"
)

// TestStrikesFallAfterTheVote checks that each expiry of afterTheVote happens between a vote and
// the decision, in whatever order the goroutines run. With a schedule that hits this moment only
// by chance, the mutant would be detected only by chance.
func TestStrikesFallAfterTheVote(t *testing.T) {
	var missing atomic.Int64 // decisions to commit, written while a site that voted is gone
	p := recipe.Protocol{
		Site: func(c drivers.Conn, path string, sites []string, mine string) recipe.Transaction {
			return recipes.NewEphemeralTransaction(c, path, sites, mine)
		},
		Coordinator: func(c drivers.Conn, path string, sites []string) recipe.Coordinator {
			return recipes.NewCoordinator(countsMissing{c, &missing}, path, sites)
		},
		OwnNodes: true,
	}
	strikes := afterTheVote()
	for seed := range uint64(3) {
		missing.Store(0)
		if wrong := underFaults(t, "two-phase-commit", recipe.TwoPhaseCommits(p), seed, strikes); wrong != "" {
			t.Errorf("seed %d: the correct form: %s", seed, wrong)
		}
		if got, want := missing.Load(), int64(len(strikes)/2); got != want {
			t.Errorf("seed %d: %d of %d expiries fell between a vote and the decision", seed, got, want)
		}
	}
}

// countsMissing counts the decisions to commit that are written while fewer than four sites have
// a node.
type countsMissing struct {
	drivers.Conn
	missing *atomic.Int64
}

func (c countsMissing) Set(ctx context.Context, path string, data []byte, version int32) (drivers.Stat, error) {
	sites, err := c.Children(ctx, path, nil)
	if err != nil {
		return drivers.Stat{}, err
	}
	if len(sites) < 4 && string(data) == "commit" {
		c.missing.Add(1)
	}
	return c.Conn.Set(ctx, path, data, version)
}
