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
		{Name: "watch", New: func(c drivers.Conn, path string) recipe.Barrier {
			return recipes.NewBarrier(c, path)
		}},
		{Name: "poll", New: func(c drivers.Conn, path string) recipe.Barrier {
			return naive.NewBarrier(c, path)
		}},
		{Name: "etcd-recipes", Library: recipetest.Library{"any replies are lost": noRetry},
			New: func(c drivers.Conn, path string) recipe.Barrier {
				return shipped[recipe.Barrier](c, "barrier", path, 0)
			}},
	}
}

func TestBarriers(t *testing.T) {
	everywhere(t, barrierForms())
}
