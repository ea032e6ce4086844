package recipetest_test

import (
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/naive"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads/recipe"
	"github.com/stampede-bench/stampede/workloads/recipetest"
)

func electionForms() []recipetest.ElectionForm {
	return []recipetest.ElectionForm{
		{Name: "predecessor", New: of[recipe.Election](recipes.NewElection)},
		{Name: "acknowledged", Acknowledged: true, New: of[recipe.Election](recipes.NewAcknowledgedElection)},
		{Name: "watch-leader", New: of[recipe.Election](naive.NewElection)},
		{Name: "children-watch", New: of[recipe.Election](naive.NewChildrenWatchElection)},
		{Name: "one-node", New: of[recipe.Election](naive.NewOneNodeElection)},
		{Name: "poll", ReadsFirst: true, New: func(c drivers.Conn, path string) recipe.Election {
			return naive.NewPollElection(c, path, 5*time.Millisecond)
		}},
		{Name: "concurrency", Library: recipetest.Library{}, New: func(c drivers.Conn, path string) recipe.Election {
			return shipped[recipe.Election](c, "election", path, 0)
		}},
	}
}

func TestElections(t *testing.T) {
	everywhere(t, electionForms())
}
