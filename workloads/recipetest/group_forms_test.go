package recipetest_test

import (
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/naive"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/recipetest"
)

func groupForms() []recipetest.GroupForm {
	return []recipetest.GroupForm{
		{Name: "ring", Ring: true, New: func(c drivers.Conn, path string) workloads.Group {
			return recipes.NewGroup(c, path)
		}},
		{Name: "recursive", New: func(c drivers.Conn, path string) workloads.Group {
			return recipes.NewRecursiveGroup(c.(drivers.PersistentWatcher), path)
		}},
		{Name: "children-watch", New: func(c drivers.Conn, path string) workloads.Group {
			return naive.NewGroup(c, path)
		}},
	}
}

func TestGroups(t *testing.T) {
	everywhere(t, "group", groupForms(), func(f recipetest.GroupForm) string { return f.Name },
		recipetest.GroupBubbled, recipetest.Group)
}
