package recipetest

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/internal/bubble"
)

// A mutant is a form of a recipe with one defect. F has what the form is made of.
type mutant[F any] struct {
	name     string // the defect
	form     F
	caughtBy []string // the cases that must detect it
}

// mutants has the mutants of a recipe, and the correct form.
type mutants[F any] struct {
	right F
	form  func(F) Form
	all   []mutant[F]
}

// areCaught fails the test unless each mutant is caught by its cases, the correct form is caught
// by none, and each case catches a mutant, here or, as elsewhere says, in another test.
func (m mutants[F]) areCaught(t *testing.T, elsewhere ...string) {
	for _, c := range m.form(m.right).cases() {
		t.Run(c.name, func(t *testing.T) {
			if failures := verdict(t, c); failures != nil {
				t.Errorf("the correct form fails: %v", failures)
			}
			catches := func(m mutant[F]) bool { return slices.Contains(m.caughtBy, c.name) }
			if !slices.ContainsFunc(m.all, catches) && !slices.Contains(elsewhere, c.name) {
				t.Error("no mutant shows that this case can fail")
			}
		})
	}
	for _, mutant := range m.all {
		t.Run(mutant.name, func(t *testing.T) {
			for _, name := range mutant.caughtBy {
				failures := verdict(t, caseNamed(t, m.form(mutant.form), name))
				if len(failures) == 0 {
					t.Errorf("a form that %s passes %q", mutant.name, name)
				}
				t.Logf("%s: %.200q", name, failures)
			}
		})
	}
}

// caught returns the names of the cases that catch a mutant.
func (m mutants[F]) caught() (cases []string) {
	for _, mutant := range m.all {
		cases = append(cases, mutant.caughtBy...)
	}
	return cases
}

func caseNamed(t *testing.T, form Form, name string) testCase {
	t.Helper()
	cases := form.cases()
	i := slices.IndexFunc(cases, func(c testCase) bool { return c.name == name })
	if i < 0 {
		t.Fatalf("there is no case %q", name)
	}
	return cases[i]
}

// verdict runs one case in a bubble and returns its failures.
func verdict(t *testing.T, c testCase) []string {
	var failures []string
	bubble.Test(t, func(t *testing.T) {
		service, err := backends.InProcess()
		if err != nil {
			t.Fatal(err)
		}
		defer closeService(t, service)
		r := &recorder{TB: t}
		done := make(chan struct{})
		go func() { // Fatalf ends this goroutine
			defer close(done)
			c.check(r, setting{service: service, bubble: true})
		}()
		<-done
		failures = r.failures
	})
	return failures
}

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
