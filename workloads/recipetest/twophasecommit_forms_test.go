package recipetest_test

import (
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/naive"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads/recipe"
	"github.com/stampede-bench/stampede/workloads/recipetest"
)

func twoPhaseCommitForms() []recipetest.TwoPhaseCommitForm {
	coordinator := func(c drivers.Conn, path string, sites []string) recipe.Coordinator {
		return recipes.NewCoordinator(c, path, sites)
	}
	return []recipetest.TwoPhaseCommitForm{
		{Name: "coordinator", Protocol: recipe.Protocol{
			Site: func(c drivers.Conn, path string, sites []string, mine string) recipe.Transaction {
				return recipes.NewTransaction(c, path, sites, mine)
			}, Coordinator: coordinator}},
		{Name: "ephemeral-sites", Protocol: recipe.Protocol{
			Site: func(c drivers.Conn, path string, sites []string, mine string) recipe.Transaction {
				return recipes.NewEphemeralTransaction(c, path, sites, mine)
			}, Coordinator: coordinator, OwnNodes: true}},
		{Name: "all-watch-all", Protocol: recipe.Protocol{
			Site: func(c drivers.Conn, path string, sites []string, mine string) recipe.Transaction {
				return naive.NewTransaction(c, path, sites, mine)
			}}},
	}
}

func TestTwoPhaseCommits(t *testing.T) {
	everywhere(t, twoPhaseCommitForms())
}
