package recipetest_test

import (
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/naive"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads/recipe"
	"github.com/stampede-bench/stampede/workloads/recipetest"
)

func lockForms() []recipetest.LockForm {
	return []recipetest.LockForm{
		{Name: "predecessor", New: func(c drivers.Conn, path string) recipe.Lock {
			return recipes.NewLock(c, path)
		}},
		{Name: "one-node", New: func(c drivers.Conn, path string) recipe.Lock {
			return naive.NewLock(c, path)
		}},
		{Name: "children-watch", New: func(c drivers.Conn, path string) recipe.Lock {
			return naive.NewChildrenWatchLock(c, path)
		}},
		{Name: "poll", New: func(c drivers.Conn, path string) recipe.Lock {
			return naive.NewPollLock(c, path, 5*time.Millisecond)
		}},
		{Name: "go-zookeeper", Library: recipetest.Library{}, New: libraryLock},
		{Name: "concurrency", Library: recipetest.Library{}, New: libraryLock},
	}
}

func libraryLock(c drivers.Conn, path string) recipe.Lock {
	return shipped[recipe.Lock](c, "lock", path, 0)
}

func sharedLockForms() []recipetest.SharedLockForm {
	return []recipetest.SharedLockForm{
		{Name: "nearest", New: func(c drivers.Conn, path string) recipe.SharedLock {
			return recipes.NewSharedLock(c, path)
		}},
		{Name: "children-watch", New: func(c drivers.Conn, path string) recipe.SharedLock {
			return naive.NewSharedLock(c, path)
		}},
		{Name: "lowest-write", New: func(c drivers.Conn, path string) recipe.SharedLock {
			return naive.NewLowestWriteSharedLock(c, path)
		}},
		{Name: "etcd-recipes", Library: recipetest.Library{}, New: func(c drivers.Conn, path string) recipe.SharedLock {
			return shipped[recipe.SharedLock](c, "shared-lock", path, 0)
		}},
	}
}

func revocableLockForms() []recipetest.RevocableLockForm {
	return []recipetest.RevocableLockForm{
		{Name: "own-node", New: func(c drivers.Conn, path string) recipe.RevocableLock {
			return recipes.NewRevocableLock(c, path)
		}},
		{Name: "laser-beams", New: func(c drivers.Conn, path string) recipe.RevocableLock {
			return recipes.NewLaserBeamLock(c, path, time.Millisecond)
		}},
		{Name: "shared-flag", New: func(c drivers.Conn, path string) recipe.RevocableLock {
			return naive.NewRevocableLock(c, path)
		}},
	}
}

func priorityLockForms() []recipetest.PriorityLockForm {
	return []recipetest.PriorityLockForm{
		{Name: "nearest", New: func(c drivers.Conn, path string) recipe.PriorityLock {
			return recipes.NewPriorityLock(c, path)
		}},
		{Name: "laser-beams", New: func(c drivers.Conn, path string) recipe.PriorityLock {
			return recipes.NewLaserBeamPriorityLock(c, path, time.Millisecond)
		}},
		{Name: "children-watch", New: func(c drivers.Conn, path string) recipe.PriorityLock {
			return naive.NewPriorityLock(c, path)
		}},
	}
}

func TestLocks(t *testing.T) {
	everywhere(t, lockForms())
}

func TestSharedLocks(t *testing.T) {
	everywhere(t, sharedLockForms())
}

func TestRevocableLocks(t *testing.T) {
	everywhere(t, revocableLockForms())
}

func TestPriorityLocks(t *testing.T) {
	everywhere(t, priorityLockForms())
}
