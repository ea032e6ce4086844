package recipetest_test

import (
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/naive"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/recipetest"
)

func electionForms() []recipetest.ElectionForm {
	return []recipetest.ElectionForm{
		{Name: "predecessor", New: func(c drivers.Conn, path string) workloads.Election {
			return recipes.NewElection(c, path)
		}},
		{Name: "acknowledged", Acknowledged: true, New: func(c drivers.Conn, path string) workloads.Election {
			return recipes.NewAcknowledgedElection(c, path)
		}},
		{Name: "watch-leader", New: func(c drivers.Conn, path string) workloads.Election {
			return naive.NewElection(c, path)
		}},
		{Name: "children-watch", New: func(c drivers.Conn, path string) workloads.Election {
			return naive.NewChildrenWatchElection(c, path)
		}},
		{Name: "concurrency", Library: recipetest.Library{}, New: func(c drivers.Conn, path string) workloads.Election {
			return shipped[workloads.Election](c, "election", path, 0)
		}},
	}
}

func TestElections(t *testing.T) {
	everywhere(t, "election", electionForms(), func(f recipetest.ElectionForm) string { return f.Name },
		recipetest.ElectionBubbled, recipetest.Election)
}
