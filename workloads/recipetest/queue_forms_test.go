package recipetest_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/naive"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads/recipe"
	"github.com/stampede-bench/stampede/workloads/recipetest"
)

// plain is a queue that ignores priorities.
type plain struct{ recipe.Queue }

func (q plain) Put(ctx context.Context, _ int, item []byte) error { return q.Queue.Put(ctx, item) }

func queueForms() []recipetest.QueueForm {
	library := recipetest.Library{
		"any replies are lost":         noRetry,
		"replies to takes are lost":    noRetry,
		"200 replies to puts are lost": noRetry,
		"ephemeral items":              "the library's items outlive their producers",
	}
	return []recipetest.QueueForm{
		{Recipe: "queue", Name: "cached-list", New: func(c drivers.Conn, at recipe.QueueSite) recipe.PriorityQueue {
			return plain{recipes.NewQueue(c, at.Items, at.Mode)}
		}},
		{Recipe: "queue", Name: "one-watcher", New: func(c drivers.Conn, at recipe.QueueSite) recipe.PriorityQueue {
			return plain{recipes.NewOneWatcherQueue(c, at.Items, at.Consumers, at.Mode)}
		}},
		{Recipe: "queue", Name: "relist", New: func(c drivers.Conn, at recipe.QueueSite) recipe.PriorityQueue {
			return plain{naive.NewQueue(c, at.Items, at.Mode)}
		}},
		{Recipe: "queue", Name: "etcd-recipes", Library: library,
			New: func(c drivers.Conn, at recipe.QueueSite) recipe.PriorityQueue {
				return plain{shipped[recipe.Queue](c, "queue", at.Items, 0)}
			}},
		{Recipe: "priority-queue", Name: "invalidate", New: func(c drivers.Conn, at recipe.QueueSite) recipe.PriorityQueue {
			return recipes.NewPriorityQueue(c, at.Items, at.Mode)
		}},
		{Recipe: "priority-queue", Name: "one-watcher", New: func(c drivers.Conn, at recipe.QueueSite) recipe.PriorityQueue {
			return recipes.NewOneWatcherPriorityQueue(c, at.Items, at.Consumers, at.Mode)
		}},
		{Recipe: "priority-queue", Name: "relist", New: func(c drivers.Conn, at recipe.QueueSite) recipe.PriorityQueue {
			return naive.NewPriorityQueue(c, at.Items, at.Mode)
		}},
		{Recipe: "priority-queue", Name: "etcd-recipes", Library: library,
			New: func(c drivers.Conn, at recipe.QueueSite) recipe.PriorityQueue {
				return shipped[recipe.PriorityQueue](c, "priority-queue", at.Items, 0)
			}},
	}
}

func TestQueues(t *testing.T) { queuesEverywhere(t, "queue") }

func TestPriorityQueues(t *testing.T) { queuesEverywhere(t, "priority-queue") }

func queuesEverywhere(t *testing.T, recipe string) {
	forms := slices.DeleteFunc(queueForms(), func(f recipetest.QueueForm) bool { return f.Recipe != recipe })
	everywhere(t, forms)
}
