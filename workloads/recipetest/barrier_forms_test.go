package recipetest_test

import (
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/naive"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads/recipe"
	"github.com/stampede-bench/stampede/workloads/recipetest"
)

func barrierForms() []recipetest.BarrierForm {
	return []recipetest.BarrierForm{
		{Name: "watch", New: of[recipe.Barrier](recipes.NewBarrier)},
		{Name: "poll", New: of[recipe.Barrier](naive.NewBarrier)},
		{Name: "etcd-recipes", Library: recipetest.Library{"any replies are lost": noRetry},
			New: func(c drivers.Conn, path string) recipe.Barrier {
				return shipped[recipe.Barrier](c, "barrier", path, 0)
			}},
	}
}

func TestBarriers(t *testing.T) {
	everywhere(t, barrierForms())
}
