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
		{Name: "predecessor", New: func(c drivers.Conn, path string) recipe.Election {
			return recipes.NewElection(c, path)
		}},
		{Name: "acknowledged", Acknowledged: true, New: func(c drivers.Conn, path string) recipe.Election {
			return recipes.NewAcknowledgedElection(c, path)
		}},
		{Name: "watch-leader", New: func(c drivers.Conn, path string) recipe.Election {
			return naive.NewElection(c, path)
		}},
		{Name: "children-watch", New: func(c drivers.Conn, path string) recipe.Election {
			return naive.NewChildrenWatchElection(c, path)
		}},
		{Name: "one-node", New: func(c drivers.Conn, path string) recipe.Election {
			return naive.NewOneNodeElection(c, path)
		}},
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
