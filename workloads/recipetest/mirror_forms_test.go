package recipetest_test

import (
	"testing"

	"github.com/stampede-bench/stampede/naive"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads/recipe"
	"github.com/stampede-bench/stampede/workloads/recipetest"
)

func mirrorForms() []recipetest.MirrorForm {
	return []recipetest.MirrorForm{
		{Name: "watch-each", New: of[recipe.Mirror](recipes.NewMirror)},
		{Name: "recursive", New: watching[recipe.Mirror](recipes.NewRecursiveMirror)},
		{Name: "relist", New: of[recipe.Mirror](naive.NewMirror)},
	}
}

func TestMirrors(t *testing.T) {
	everywhere(t, mirrorForms())
}
