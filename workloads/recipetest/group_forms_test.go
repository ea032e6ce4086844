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
		{Name: "ring", Ring: true, New: func(c drivers.Conn, path string) recipe.Group {
			return recipes.NewGroup(c, path)
		}},
		{Name: "recursive", New: func(c drivers.Conn, path string) recipe.Group {
			return recipes.NewRecursiveGroup(c.(drivers.PersistentWatcher), path)
		}},
		{Name: "children-watch", New: func(c drivers.Conn, path string) recipe.Group {
			return naive.NewGroup(c, path)
		}},
	}
}

func TestGroups(t *testing.T) {
	everywhere(t, groupForms())
}
