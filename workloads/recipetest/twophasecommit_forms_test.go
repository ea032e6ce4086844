package recipetest_test

import (
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/naive"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/recipetest"
)

func twoPhaseCommitForms() []recipetest.TwoPhaseCommitForm {
	coordinator := func(c drivers.Conn, path string, sites []string) workloads.Coordinator {
		return recipes.NewCoordinator(c, path, sites)
	}
	return []recipetest.TwoPhaseCommitForm{
		{Name: "coordinator", Protocol: workloads.Protocol{
			Site: func(c drivers.Conn, path string, sites []string, mine string) workloads.Transaction {
				return recipes.NewTransaction(c, path, sites, mine)
			}, Coordinator: coordinator}},
		{Name: "ephemeral-sites", Protocol: workloads.Protocol{
			Site: func(c drivers.Conn, path string, sites []string, mine string) workloads.Transaction {
				return recipes.NewEphemeralTransaction(c, path, sites, mine)
			}, Coordinator: coordinator, OwnNodes: true}},
		{Name: "all-watch-all", Protocol: workloads.Protocol{
			Site: func(c drivers.Conn, path string, sites []string, mine string) workloads.Transaction {
				return naive.NewTransaction(c, path, sites, mine)
			}}},
	}
}

func TestTwoPhaseCommits(t *testing.T) {
	everywhere(t, "two-phase-commit", twoPhaseCommitForms(), func(f recipetest.TwoPhaseCommitForm) string { return f.Name },
		recipetest.TwoPhaseCommitBubbled, recipetest.TwoPhaseCommit)
}
