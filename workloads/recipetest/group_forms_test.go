package recipetest_test

import (
	"testing"

	"github.com/stampede-bench/stampede/naive"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads/recipe"
	"github.com/stampede-bench/stampede/workloads/recipetest"
)

func groupForms() []recipetest.GroupForm {
	return []recipetest.GroupForm{
		{Recipe: "group", Name: "ring", Ring: true, New: of[recipe.Group](recipes.NewGroup)},
		{Recipe: "group", Name: "recursive", New: watching[recipe.Group](recipes.NewRecursiveGroup)},
		{Recipe: "group", Name: "children-watch", New: of[recipe.Group](naive.NewGroup)},
	}
}

func mutualWatchForms() []recipetest.GroupForm {
	return []recipetest.GroupForm{
		{Recipe: "mutual-watch", Name: "one-watch", New: of[recipe.Group](recipes.NewMutualWatch)},
		{Recipe: "mutual-watch", Name: "recursive", New: watching[recipe.Group](recipes.NewRecursiveMutualWatch)},
		{Recipe: "mutual-watch", Name: "watch-each", New: of[recipe.Group](naive.NewMutualWatch)},
	}
}

func TestMutualWatches(t *testing.T) {
	everywhere(t, mutualWatchForms())
}

func TestGroups(t *testing.T) {
	everywhere(t, groupForms())
}
