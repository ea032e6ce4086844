package main

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/internal/testenv"
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

// TestOwnLock builds and runs the example, and checks that it prints its own lock beside the
// others and reports no safety violation.
func TestOwnLock(t *testing.T) {
	testenv.SkipIfShort(t)
	program := filepath.Join(t.TempDir(), "ownlock")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.CommandContext(t.Context(), program).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, clients := range []string{"2", "16"} {
		for _, form := range []string{"predecessor", "one-node", "patient"} {
			row := regexp.MustCompile(`(?m)^ +` + clients + ` +` + form + ` .* ok [\d  ]+$`)
			if !row.Match(out) {
				t.Errorf("no row of %s with %s clients that is safe", form, clients)
			}
		}
	}
	if t.Failed() {
		t.Logf("%s", out)
	}
}
