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
		{Name: "predecessor", New: func(c drivers.Conn, path string) workloads.Lock {
			return recipes.NewLock(c, path)
		}},
		{Name: "one-node", New: func(c drivers.Conn, path string) workloads.Lock {
			return naive.NewLock(c, path)
		}},
		{Name: "children-watch", New: func(c drivers.Conn, path string) workloads.Lock {
			return naive.NewChildrenWatchLock(c, path)
		}},
		{Name: "poll", New: func(c drivers.Conn, path string) workloads.Lock {
			return naive.NewPollLock(c, path, 5*time.Millisecond)
		}},
		{Name: "go-zookeeper", Library: recipetest.Library{}, New: libraryLock},
	}
}

// etcdLockForms are those that are tried on etcd: the forms that run anywhere
// and its own library's.
func etcdLockForms() []recipetest.LockForm {
	forms := slices.DeleteFunc(lockForms(), func(f recipetest.LockForm) bool { return f.Library != nil })
	return append(forms, recipetest.LockForm{Name: "concurrency", Library: recipetest.Library{}, New: libraryLock})
}

func libraryLock(c drivers.Conn, path string) workloads.Lock {
	return c.(drivers.Librarian).LibraryForm("lock", path, 0).(workloads.Lock)
}

func sharedLockForms() []recipetest.SharedLockForm {
	return []recipetest.SharedLockForm{
		{Name: "nearest", New: func(c drivers.Conn, path string) workloads.SharedLock {
			return recipes.NewSharedLock(c, path)
		}},
		{Name: "children-watch", New: func(c drivers.Conn, path string) workloads.SharedLock {
			return naive.NewSharedLock(c, path)
		}},
		{Name: "lowest-write", New: func(c drivers.Conn, path string) workloads.SharedLock {
			return naive.NewLowestWriteSharedLock(c, path)
		}},
	}
}

func revocableLockForms() []recipetest.RevocableLockForm {
	return []recipetest.RevocableLockForm{
		{Name: "own-node", New: func(c drivers.Conn, path string) workloads.RevocableLock {
			return recipes.NewRevocableLock(c, path)
		}},
		{Name: "laser-beams", New: func(c drivers.Conn, path string) workloads.RevocableLock {
			return recipes.NewLaserBeamLock(c, path, time.Millisecond)
		}},
		{Name: "shared-flag", New: func(c drivers.Conn, path string) workloads.RevocableLock {
			return naive.NewRevocableLock(c, path)
		}},
	}
}

func TestLocksInProcess(t *testing.T) {
	for _, form := range lockForms() {
		t.Run("lock/"+form.Name, func(t *testing.T) { recipetest.LockBubbled(t, inProcess, form) })
	}
	for _, form := range sharedLockForms() {
		t.Run("shared-lock/"+form.Name, func(t *testing.T) { recipetest.SharedLockBubbled(t, inProcess, form) })
	}
	for _, form := range revocableLockForms() {
		t.Run("revocable-lock/"+form.Name, func(t *testing.T) { recipetest.RevocableLockBubbled(t, inProcess, form) })
	}
}

// The twins over sockets; the other forms would see the same server.
func TestLocksOnNative(t *testing.T) {
	locksOn(t, "native:", lockForms()[:2], sharedLockForms()[:2], revocableLockForms()[:1])
}

func TestLocksOnZooKeeper(t *testing.T) {
	locksOn(t, "zookeeper:", lockForms(), sharedLockForms(), revocableLockForms())
}

func TestLocksOnEtcd(t *testing.T) {
	locksOn(t, "etcd:", etcdLockForms(), sharedLockForms(), revocableLockForms())
}

// locksOn checks the forms on a service.
func locksOn(t *testing.T, url string, locks []recipetest.LockForm, shared []recipetest.SharedLockForm,
	revocable []recipetest.RevocableLockForm) {
	service := backendtest.Shared(t, url)
	for _, form := range locks {
		t.Run("lock/"+form.Name, func(t *testing.T) {
			t.Parallel()
			recipetest.Lock(t, service, form)
		})
	}
	for _, form := range shared {
		t.Run("shared-lock/"+form.Name, func(t *testing.T) {
			t.Parallel()
			recipetest.SharedLock(t, service, form)
		})
	}
	for _, form := range revocable {
		t.Run("revocable-lock/"+form.Name, func(t *testing.T) {
			t.Parallel()
			recipetest.RevocableLock(t, service, form)
		})
	}
}

func TestEveryLockOfTheCatalogueIsTested(t *testing.T) {
	var tested []string
	for _, form := range append(lockForms(), etcdLockForms()[4:]...) {
		tested = append(tested, "lock/"+form.Name)
	}
	for _, form := range sharedLockForms() {
		tested = append(tested, "shared-lock/"+form.Name)
	}
	for _, form := range revocableLockForms() {
		tested = append(tested, "revocable-lock/"+form.Name)
	}
	var want []string
	for _, form := range catalog.Forms() {
		if form.Recipe == "lock" || form.Client == "" && slices.Contains([]string{"shared-lock", "revocable-lock"}, form.Recipe) {
			want = append(want, form.String())
		}
	}
	if !slices.Equal(tested, want) {
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
