package recipetest_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/naive"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/catalog"
	"github.com/stampede-bench/stampede/workloads/recipetest"
)

func TestMain(m *testing.M) { backendtest.Main(m) }

func lockForms() []recipetest.LockForm {
	return []recipetest.LockForm{
		{Name: "predecessor", New: func(c drivers.Conn, path string) (workloads.Lock, error) {
			return recipes.NewLock(c, path), nil
		}},
		{Name: "one-node", New: func(c drivers.Conn, path string) (workloads.Lock, error) {
			return naive.NewLock(c, path), nil
		}},
		{Name: "children-watch", New: func(c drivers.Conn, path string) (workloads.Lock, error) {
			return naive.NewChildrenWatchLock(c, path), nil
		}},
		{Name: "poll", New: func(c drivers.Conn, path string) (workloads.Lock, error) {
			return naive.NewPollLock(c, path, 5*time.Millisecond), nil
		}},
		{Name: "go-zookeeper", Library: true, New: func(c drivers.Conn, path string) (workloads.Lock, error) {
			return c.(drivers.LibraryLocker).NewLibraryLock(path), nil
		}},
	}
}

func TestLockInProcess(t *testing.T) {
	for _, form := range lockForms() {
		t.Run(form.Name, func(t *testing.T) { recipetest.LockBubbled(t, inProcess, form) })
	}
}

// The twins over sockets; the other forms would see the same server.
func TestLockOnNative(t *testing.T) {
	lockOn(t, "native:", lockForms()[:2])
}

func TestLockOnZooKeeper(t *testing.T) {
	lockOn(t, "zookeeper:", lockForms())
}

// lockOn checks the forms on a service.
func lockOn(t *testing.T, url string, forms []recipetest.LockForm) {
	service := backendtest.Shared(t, url)
	for _, form := range forms {
		t.Run(form.Name, func(t *testing.T) {
			t.Parallel()
			recipetest.Lock(t, service, form)
		})
	}
}

func TestEveryLockOfTheCatalogueIsTested(t *testing.T) {
	var tested []string
	for _, form := range lockForms() {
		tested = append(tested, form.Name)
	}
	if want := catalog.Names(catalog.Forms(), "lock"); !slices.Equal(tested, want) {
		t.Errorf("tested are %v, the catalogue has %v", tested, want)
	}
}

func inProcess(t testing.TB) drivers.Service {
	service, err := backends.InProcess()
	if err != nil {
		t.Fatal(err)
	}
	return service
}
