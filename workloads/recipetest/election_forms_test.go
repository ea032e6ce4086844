package recipetest_test

import (
	"slices"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/naive"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/catalog"
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
	}
}

func TestElectionInProcess(t *testing.T) {
	for _, form := range electionForms() {
		t.Run(form.Name, func(t *testing.T) { recipetest.ElectionBubbled(t, inProcess, form) })
	}
}

// The one with most nodes over sockets; the other forms would see the same server.
func TestElectionOnNative(t *testing.T) {
	recipetest.Election(t, backendtest.Shared(t, "native:"), electionForms()[1])
}

func TestElectionOnZooKeeper(t *testing.T) {
	service := backendtest.Shared(t, "zookeeper:")
	for _, form := range electionForms() {
		t.Run(form.Name, func(t *testing.T) {
			t.Parallel()
			recipetest.Election(t, service, form)
		})
	}
}

func TestEveryElectionOfTheCatalogueIsTested(t *testing.T) {
	var tested []string
	for _, form := range electionForms() {
		tested = append(tested, form.Name)
	}
	if want := catalog.Names(anywhere(), "election"); !slices.Equal(tested, want) {
		t.Errorf("tested are %v, the catalogue has %v", tested, want)
	}
}
