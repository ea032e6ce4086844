package recipetest_test

import (
	"slices"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/catalog"
	"github.com/stampede-bench/stampede/workloads/recipetest"
)

// Why etcd's packages cannot keep what some cases ask for.
const (
	noRetry = "the library gives up at a lost reply"
	looks   = "who has been inside for longer than the member remembers, half a second, looks without end while it leaves, and never sleeps"
)

func shipped[F any](c drivers.Conn, recipe, path string, clients int) F {
	return c.(drivers.Librarian).LibraryForm(recipe, path, clients).(F)
}

func etcdElection() recipetest.ElectionForm {
	return recipetest.ElectionForm{Name: "concurrency", Library: recipetest.Library{},
		New: func(c drivers.Conn, path string) workloads.Election {
			return shipped[workloads.Election](c, "election", path, 0)
		}}
}

func etcdSharedLock() recipetest.SharedLockForm {
	return recipetest.SharedLockForm{Name: "etcd-recipes", Library: recipetest.Library{},
		New: func(c drivers.Conn, path string) workloads.SharedLock {
			return shipped[workloads.SharedLock](c, "shared-lock", path, 0)
		}}
}

func etcdBarrier() recipetest.BarrierForm {
	return recipetest.BarrierForm{Name: "etcd-recipes",
		Library: recipetest.Library{"any replies are lost": noRetry},
		New: func(c drivers.Conn, path string) workloads.Barrier {
			return shipped[workloads.Barrier](c, "barrier", path, 0)
		}}
}

func etcdDoubleBarrier() recipetest.DoubleBarrierForm {
	return recipetest.DoubleBarrierForm{Name: "etcd-recipes",
		Library: recipetest.Library{
			"any replies are lost":                            noRetry,
			"replies to creates are lost":                     noRetry,
			"one looks too late":                              "the case holds a client up in its first read, which the library makes before it has come",
			"settled cost":                                    looks,
			"the session of the lowest is lost inside":        looks,
			"the session of one in the middle is lost inside": looks,
			"the session of the highest is lost inside":       looks,
		},
		New: func(c drivers.Conn, path string, clients int) workloads.DoubleBarrier {
			return shipped[workloads.DoubleBarrier](c, "double-barrier", path, clients)
		}}
}

func etcdQueues() []recipetest.QueueForm {
	library := recipetest.Library{
		"any replies are lost":         noRetry,
		"replies to takes are lost":    noRetry,
		"200 replies to puts are lost": noRetry,
		"ephemeral items":              "the library's items outlive their producers",
	}
	return []recipetest.QueueForm{
		{Recipe: "queue", Name: "etcd-recipes", Library: library,
			New: func(c drivers.Conn, at workloads.QueueSite) workloads.PriorityQueue {
				return plain{shipped[workloads.Queue](c, "queue", at.Items, 0)}
			}},
		{Recipe: "priority-queue", Name: "etcd-recipes", Library: library,
			New: func(c drivers.Conn, at workloads.QueueSite) workloads.PriorityQueue {
				return shipped[workloads.PriorityQueue](c, "priority-queue", at.Items, 0)
			}},
	}
}

// What etcd's client ships is asked the same as our own forms, as far as it can
// keep it.
func TestEtcdLibrary(t *testing.T) {
	service := backendtest.Shared(t, "etcd:")
	t.Run("election", func(t *testing.T) { t.Parallel(); recipetest.Election(t, service, etcdElection()) })
	t.Run("shared-lock", func(t *testing.T) { t.Parallel(); recipetest.SharedLock(t, service, etcdSharedLock()) })
	t.Run("barrier", func(t *testing.T) { t.Parallel(); recipetest.Barrier(t, service, etcdBarrier()) })
	t.Run("double-barrier", func(t *testing.T) { t.Parallel(); recipetest.DoubleBarrier(t, service, etcdDoubleBarrier()) })
	tested := []string{"lock", "shared-lock", "barrier", "double-barrier", "election"} // the lock with our own
	for _, form := range etcdQueues() {
		tested = append(tested, form.Recipe)
		t.Run(form.Recipe, func(t *testing.T) { t.Parallel(); recipetest.Queue(t, service, form) })
	}
	var shipped []string
	for _, form := range catalog.Forms() {
		if form.ServedBy(service.Info()) && form.Client != "" {
			shipped = append(shipped, form.Recipe)
		}
	}
	if !slices.Equal(tested, shipped) {
		t.Errorf("tested are %v, the catalogue has %v", tested, shipped)
	}
}
