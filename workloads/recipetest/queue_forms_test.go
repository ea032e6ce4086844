package recipetest_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/naive"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/catalog"
	"github.com/stampede-bench/stampede/workloads/recipetest"
)

// plain is a queue whose priorities nobody asks for.
type plain struct{ workloads.Queue }

func (q plain) Put(ctx context.Context, _ int, item []byte) error { return q.Queue.Put(ctx, item) }

func queueForms() []recipetest.QueueForm {
	return []recipetest.QueueForm{
		{Recipe: "queue", Name: "cached-list", New: func(c drivers.Conn, at workloads.QueueSite) workloads.PriorityQueue {
			return plain{recipes.NewQueue(c, at.Items, at.Mode)}
		}},
		{Recipe: "queue", Name: "one-watcher", New: func(c drivers.Conn, at workloads.QueueSite) workloads.PriorityQueue {
			return plain{recipes.NewOneWatcherQueue(c, at.Items, at.Consumers, at.Mode)}
		}},
		{Recipe: "queue", Name: "relist", New: func(c drivers.Conn, at workloads.QueueSite) workloads.PriorityQueue {
			return plain{naive.NewQueue(c, at.Items, at.Mode)}
		}},
		{Recipe: "priority-queue", Name: "invalidate", New: func(c drivers.Conn, at workloads.QueueSite) workloads.PriorityQueue {
			return recipes.NewPriorityQueue(c, at.Items, at.Mode)
		}},
		{Recipe: "priority-queue", Name: "one-watcher", New: func(c drivers.Conn, at workloads.QueueSite) workloads.PriorityQueue {
			return recipes.NewOneWatcherPriorityQueue(c, at.Items, at.Consumers, at.Mode)
		}},
		{Recipe: "priority-queue", Name: "relist", New: func(c drivers.Conn, at workloads.QueueSite) workloads.PriorityQueue {
			return naive.NewPriorityQueue(c, at.Items, at.Mode)
		}},
	}
}

func TestQueuesInProcess(t *testing.T) {
	for _, form := range queueForms() {
		t.Run(form.Recipe+"/"+form.Name, func(t *testing.T) { recipetest.QueueBubbled(t, inProcess, form) })
	}
}

// One form over sockets; the others would see the same server.
func TestQueueOnNative(t *testing.T) {
	recipetest.Queue(t, backendtest.Shared(t, "native:"), queueForms()[0])
}

func TestQueuesOnZooKeeper(t *testing.T) {
	service := backendtest.Shared(t, "zookeeper:")
	for _, form := range queueForms() {
		t.Run(form.Recipe+"/"+form.Name, func(t *testing.T) {
			t.Parallel()
			recipetest.Queue(t, service, form)
		})
	}
}

func TestEveryQueueOfTheCatalogueIsTested(t *testing.T) {
	tested := map[string][]string{}
	for _, form := range queueForms() {
		tested[form.Recipe] = append(tested[form.Recipe], form.Name)
	}
	for recipe, names := range tested {
		if want := catalog.Names(anywhere(), recipe); !slices.Equal(names, want) {
			t.Errorf("tested of %s are %v, the catalogue has %v", recipe, names, want)
		}
	}
}
