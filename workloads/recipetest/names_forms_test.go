package recipetest_test

import (
	"testing"

	"github.com/stampede-bench/stampede/naive"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads/recipe"
	"github.com/stampede-bench/stampede/workloads/recipetest"
)

func namesForms() []recipetest.NamesForm {
	return []recipetest.NamesForm{
		{Name: "cached", New: of[recipe.Names](recipes.NewNames)},
		{Name: "recursive", New: watching[recipe.Names](recipes.NewRecursiveNames)},
		{Name: "lookup", New: of[recipe.Names](naive.NewNames)},
	}
}

func TestNames(t *testing.T) {
	everywhere(t, namesForms())
}
