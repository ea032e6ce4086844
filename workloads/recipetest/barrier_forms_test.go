package recipetest_test

import (
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/naive"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/recipetest"
)

func barrierForms() []recipetest.BarrierForm {
	return []recipetest.BarrierForm{
		{Name: "watch", New: func(c drivers.Conn, path string) workloads.Barrier {
			return recipes.NewBarrier(c, path)
		}},
		{Name: "poll", New: func(c drivers.Conn, path string) workloads.Barrier {
			return naive.NewBarrier(c, path)
		}},
		{Name: "etcd-recipes", Library: recipetest.Library{"any replies are lost": noRetry},
			New: func(c drivers.Conn, path string) workloads.Barrier {
				return shipped[workloads.Barrier](c, "barrier", path, 0)
			}},
	}
}

func TestBarriers(t *testing.T) {
	everywhere(t, "barrier", barrierForms(), func(f recipetest.BarrierForm) string { return f.Name },
		recipetest.BarrierBubbled, recipetest.Barrier)
}
