package recipetest_test

import (
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/naive"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads/recipe"
	"github.com/stampede-bench/stampede/workloads/recipetest"
)

func mirrorForms() []recipetest.MirrorForm {
	return []recipetest.MirrorForm{
		{Name: "watch-each", New: func(c drivers.Conn, path string) recipe.Mirror {
			return recipes.NewMirror(c, path)
		}},
		{Name: "recursive", New: func(c drivers.Conn, path string) recipe.Mirror {
			return recipes.NewRecursiveMirror(capable[drivers.PersistentWatcher](c), path)
		}},
		{Name: "relist", New: func(c drivers.Conn, path string) recipe.Mirror {
			return naive.NewMirror(c, path)
		}},
	}
}

func TestMirrors(t *testing.T) {
	everywhere(t, mirrorForms())
}
