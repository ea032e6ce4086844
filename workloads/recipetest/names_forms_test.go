package recipetest_test

import (
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/naive"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads/recipe"
	"github.com/stampede-bench/stampede/workloads/recipetest"
)

func namesForms() []recipetest.NamesForm {
	return []recipetest.NamesForm{
		{Name: "cached", New: func(c drivers.Conn, path string) recipe.Names {
			return recipes.NewNames(c, path)
		}},
		{Name: "recursive", New: func(c drivers.Conn, path string) recipe.Names {
			return recipes.NewRecursiveNames(capable[drivers.PersistentWatcher](c), path)
		}},
		{Name: "lookup", New: func(c drivers.Conn, path string) recipe.Names {
			return naive.NewNames(c, path)
		}},
	}
}

func TestNames(t *testing.T) {
	everywhere(t, namesForms())
}
