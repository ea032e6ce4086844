package recipetest_test

import (
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/naive"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads/recipe"
	"github.com/stampede-bench/stampede/workloads/recipetest"
)

func doubleBarrierForms() []recipetest.DoubleBarrierForm {
	return []recipetest.DoubleBarrierForm{
		{Name: "ready", New: func(c drivers.Conn, path string, clients int) recipe.DoubleBarrier {
			return recipes.NewDoubleBarrier(c, path, clients)
		}},
		{Name: "sequential", New: func(c drivers.Conn, path string, clients int) recipe.DoubleBarrier {
			return recipes.NewSequentialDoubleBarrier(c, path, clients)
		}},
		{Name: "children-watch", New: func(c drivers.Conn, path string, clients int) recipe.DoubleBarrier {
			return naive.NewDoubleBarrier(c, path, clients)
		}},
		{Name: "etcd-recipes", Library: recipetest.Library{
			recipetest.SharedService:      "it watches from when the first came, and loops where etcd has forgotten that because others write much",
			"any replies are lost":        noRetry,
			"replies to creates are lost": noRetry,
			"one client is slow":          "the case holds a client up in its first read, which the library makes before it has come",
		}, New: func(c drivers.Conn, path string, clients int) recipe.DoubleBarrier {
			return shipped[recipe.DoubleBarrier](c, "double-barrier", path, clients)
		}},
	}
}

func TestDoubleBarriers(t *testing.T) {
	everywhere(t, doubleBarrierForms())
}
