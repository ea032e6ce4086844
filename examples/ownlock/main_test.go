package main

import (
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/workloads/recipe"
	"github.com/stampede-bench/stampede/workloads/recipetest"
)

// TestPatientLock checks that the lock is safe, under any schedule and whichever replies and
// sessions are lost.
func TestPatientLock(t *testing.T) {
	open := func(t testing.TB) drivers.Service {
		service, err := backends.InProcess()
		if err != nil {
			t.Fatal(err)
		}
		return service
	}
	recipetest.RunInBubbles(t, open, recipetest.LockForm{Name: "patient", New: func(c drivers.Conn, path string) recipe.Lock {
		return newPatientLock(c, path)
	}})
}
