package recipetest_test

import (
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/naive"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads/recipe"
	"github.com/stampede-bench/stampede/workloads/recipetest"
)

func groupForms() []recipetest.GroupForm {
	return []recipetest.GroupForm{
		{Recipe: "group", Name: "ring", Ring: true, New: func(c drivers.Conn, path string) recipe.Group {
			return recipes.NewGroup(c, path)
		}},
		{Recipe: "group", Name: "recursive", New: func(c drivers.Conn, path string) recipe.Group {
			return recipes.NewRecursiveGroup(capable[drivers.PersistentWatcher](c), path)
		}},
		{Recipe: "group", Name: "children-watch", New: func(c drivers.Conn, path string) recipe.Group {
			return naive.NewGroup(c, path)
		}},
	}
}

func mutualWatchForms() []recipetest.GroupForm {
	return []recipetest.GroupForm{
		{Recipe: "mutual-watch", Name: "one-watch", New: func(c drivers.Conn, path string) recipe.Group {
			return recipes.NewMutualWatch(c, path)
		}},
		{Recipe: "mutual-watch", Name: "recursive", New: func(c drivers.Conn, path string) recipe.Group {
			return recipes.NewRecursiveMutualWatch(capable[drivers.PersistentWatcher](c), path)
		}},
		{Recipe: "mutual-watch", Name: "watch-each", New: func(c drivers.Conn, path string) recipe.Group {
			return naive.NewMutualWatch(c, path)
		}},
	}
}

func TestMutualWatches(t *testing.T) {
	everywhere(t, mutualWatchForms())
}

func TestGroups(t *testing.T) {
	everywhere(t, groupForms())
}
