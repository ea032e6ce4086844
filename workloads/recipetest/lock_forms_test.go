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
		{Name: "predecessor", New: of[recipe.Lock](recipes.NewLock)},
		{Name: "one-node", New: of[recipe.Lock](naive.NewLock)},
		{Name: "children-watch", New: of[recipe.Lock](naive.NewChildrenWatchLock)},
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
		{Name: "nearest", New: of[recipe.SharedLock](recipes.NewSharedLock)},
		{Name: "children-watch", New: of[recipe.SharedLock](naive.NewSharedLock)},
		{Name: "lowest-write", New: of[recipe.SharedLock](naive.NewLowestWriteSharedLock)},
		{Name: "etcd-recipes", Library: recipetest.Library{}, New: func(c drivers.Conn, path string) recipe.SharedLock {
			return shipped[recipe.SharedLock](c, "shared-lock", path, 0)
		}},
	}
}

func revocableLockForms() []recipetest.RevocableLockForm {
	return []recipetest.RevocableLockForm{
		{Name: "own-node", New: of[recipe.RevocableLock](recipes.NewRevocableLock)},
		{Name: "laser-beams", New: func(c drivers.Conn, path string) recipe.RevocableLock {
			return recipes.NewLaserBeamLock(c, path, time.Millisecond)
		}},
		{Name: "shared-flag", New: of[recipe.RevocableLock](naive.NewRevocableLock)},
	}
}

func priorityLockForms() []recipetest.PriorityLockForm {
	return []recipetest.PriorityLockForm{
		{Name: "nearest", New: of[recipe.PriorityLock](recipes.NewPriorityLock)},
		{Name: "laser-beams", New: func(c drivers.Conn, path string) recipe.PriorityLock {
			return recipes.NewLaserBeamPriorityLock(c, path, time.Millisecond)
		}},
		{Name: "children-watch", New: of[recipe.PriorityLock](naive.NewPriorityLock)},
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
