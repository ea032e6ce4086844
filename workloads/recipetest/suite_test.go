package recipetest

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/internal/bubble"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads"
)

// A recorder takes the place of a test, and records its failures.
type recorder struct {
	testing.TB
	mu       sync.Mutex
	failures []string
}

func (r *recorder) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

func (r *recorder) Failed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.failures) > 0
}

func (r *recorder) Logf(string, ...any) {}

// verdict runs one case in a bubble and returns its failures.
func verdict(t *testing.T, c lockCase, form LockForm) []string {
	return verdictOf(t, func(t testing.TB, s setting) { c.check(t, s, form) })
}

func verdictOf(t *testing.T, check func(testing.TB, setting)) []string {
	var failures []string
	bubble.Test(t, func(t *testing.T) {
		service, err := backends.InProcess()
		if err != nil {
			t.Fatal(err)
		}
		defer closed(t, service)
		r := &recorder{TB: t}
		done := make(chan struct{})
		go func() { // Fatalf ends this goroutine
			defer close(done)
			check(r, setting{service: service, bubble: true})
		}()
		<-done
		failures = r.failures
	})
	return failures
}

func TestMutantsAreCaught(t *testing.T) {
	areCaught(t, LockForm{Name: "predecessor"}, mutants())
	areCaught(t, LockForm{Name: "nearest", Recipe: "shared-lock"}, sharedMutants())
	areCaught(t, LockForm{Name: "own-node", Recipe: "revocable-lock"}, revocableMutants())
}

// areCaught runs the cases of each mutant and checks that they detect it.
func areCaught(t *testing.T, form LockForm, mutants []mutant) {
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			form.New = func(c drivers.Conn, dir string) workloads.Lock { return m.open(c, dir) }
			for _, name := range m.caughtBy {
				failures := verdict(t, caseNamed(t, form, name), form)
				if len(failures) == 0 {
					t.Errorf("a lock that %s passes %q", m.name, name)
				}
				t.Logf("%s: %.200q", name, failures)
			}
		})
	}
}

// TestTheRecipesAreNotCaught checks that the recorder reports no failures of correct locks.
func TestTheRecipesAreNotCaught(t *testing.T) {
	forms := []LockForm{
		{Name: "predecessor", New: func(c drivers.Conn, dir string) workloads.Lock { return recipes.NewLock(c, dir) }},
		SharedLockForm{Name: "nearest", New: func(c drivers.Conn, dir string) workloads.SharedLock {
			return recipes.NewSharedLock(c, dir)
		}}.lock(),
		RevocableLockForm{Name: "own-node", New: func(c drivers.Conn, dir string) workloads.RevocableLock {
			return recipes.NewRevocableLock(c, dir)
		}}.lock(),
	}
	for _, form := range forms {
		for _, c := range lockCases(form) {
			if failures := verdict(t, c, form); failures != nil {
				t.Errorf("%s: %s: %v", form.Name, c.name, failures)
			}
		}
	}
}

func TestEveryCaseCatchesSomething(t *testing.T) {
	catches := map[string]bool{}
	for _, m := range slices.Concat(mutants(), sharedMutants(), revocableMutants()) {
		for _, name := range m.caughtBy {
			catches[name] = true
		}
	}
	for _, recipe := range []string{"", "shared-lock", "revocable-lock"} {
		for _, c := range lockCases(LockForm{Recipe: recipe}) {
			if !catches[c.name] {
				t.Errorf("no mutant shows that %q can fail", c.name)
			}
		}
	}
}

func caseNamed(t *testing.T, form LockForm, name string) lockCase {
	t.Helper()
	cases := lockCases(form)
	i := slices.IndexFunc(cases, func(c lockCase) bool { return c.name == name })
	if i < 0 {
		t.Fatalf("there is no case %q", name)
	}
	return cases[i]
}
