package recipetest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/internal/bubble"
	"github.com/stampede-bench/stampede/workloads"
)

// A Form is a form under test: a [LockForm], a [BarrierForm] or another type of this
// package.
type Form interface {
	// String returns the recipe and the form, such as "lock/predecessor".
	fmt.Stringer
	// Alone reports whether the form must be checked while no other client uses the
	// service.
	Alone() bool

	cases() []testCase
	skipCase(t *testing.T, name string)
}

// Library is non-nil if a client library ships the form. It maps the names of the cases
// that the form cannot pass to the reasons. Such a form does not report when it is parked,
// and the lock cases with lost replies do not apply to it.
type Library map[string]string

// SharedService is a key of [Library] like the name of a case, for a form that fails if
// other clients use the service at the same time.
const SharedService = "shared service"

// family returns the form's family, or "" if no client library ships it.
func (l Library) family() workloads.Family {
	if l != nil {
		return workloads.Library
	}
	return ""
}

// Alone implements [Form].
func (l Library) Alone() bool {
	_, alone := l[SharedService]
	return alone
}

func (l Library) skipCase(t *testing.T, name string) {
	t.Helper()
	if why, cannot := l[name]; cannot {
		t.Skip(why)
	}
}

// Run checks a form on a service that all cases share, and that other tests may use too. It
// returns before the last case has finished, as parallel tests do.
func Run(t *testing.T, service drivers.Service, form Form) {
	for _, c := range form.cases() {
		t.Run(c.name, func(t *testing.T) {
			form.skipCase(t, c.name)
			if !form.Alone() {
				t.Parallel()
			}
			c.check(t, setting{service: service})
		})
	}
}

// RunInBubbles checks a form with a testing/synctest bubble and a service of its own for each
// case. It calls open within the bubble.
func RunInBubbles(t *testing.T, open func(t testing.TB) drivers.Service, form Form) {
	for _, c := range form.cases() {
		t.Run(c.name, func(t *testing.T) {
			form.skipCase(t, c.name)
			bubble.Test(t, func(t *testing.T) {
				service := open(t)
				defer closeService(t, service)
				c.check(t, setting{service: service, bubble: true})
			})
		})
	}
}

func closeService(t testing.TB, service drivers.Service) {
	if err := service.Close(); err != nil {
		t.Errorf("closing the service: %v", err)
	}
}

// A testCase is one requirement of a form.
type testCase struct {
	name string
	why  string // what the case requires, and why
	run  func(ctx context.Context, x *trial)
}

// A caseOf is a testCase whose state is an X, which has a trial in it.
type caseOf[X any] struct {
	name string
	why  string
	run  func(ctx context.Context, x X)
}

// casesOf returns the cases as test cases. begin makes a case's state.
func casesOf[X any](begin func(context.Context, *trial) X, cases []caseOf[X]) []testCase {
	all := make([]testCase, len(cases))
	for i, c := range cases {
		all[i] = testCase{c.name, c.why, func(ctx context.Context, x *trial) { c.run(ctx, begin(ctx, x)) }}
	}
	return all
}

// leavingNothing returns cases that also fail if the case's node has a child in the end.
func leavingNothing(cases []testCase) []testCase {
	for i, c := range cases {
		cases[i].run = func(ctx context.Context, x *trial) {
			c.run(ctx, x)
			if !x.Failed() {
				x.expectChildren(ctx, 0)
			}
		}
	}
	return cases
}

// check runs the case.
func (c testCase) check(t testing.TB, s setting) {
	defer func() {
		if t.Failed() {
			t.Logf("the requirement: %s", c.why)
		}
	}()
	ctx, cancel := context.WithTimeoutCause(t.Context(), hangTimeout, errHung)
	defer cancel()
	x := beginTrial(ctx, t, s)
	defer x.end()
	c.run(ctx, x)
}

// A setting is the environment in which a case runs.
type setting struct {
	service drivers.Service
	bubble  bool // runs in a synctest bubble, together with the service
}

// seeds returns how often a case repeats its random actions, each time with another seed. In
// a bubble, repetitions differ only by their seed. Elsewhere no two are the same anyway, and
// each takes as long as the service needs.
func (s setting) seeds() uint64 {
	if s.bubble {
		return 3
	}
	return 1
}

// turns returns how many turns each of several clients takes before the counts of an
// arbitrary schedule are checked. It is lower where turns take long.
func (s setting) turns() int {
	if s.bubble {
		return 12
	}
	return 4
}

// sizes returns the numbers of clients for which settled costs are compared. The bubble
// checks the shape of the formulas; elsewhere the comparison only checks the counting.
func (s setting) sizes() []int64 {
	if s.bubble {
		return []int64{1, 2, 3, 5, 8, 16}
	}
	return []int64{3}
}

// hangTimeout is the time after which a case counts as hung: far longer than any case takes
// on a slow machine.
const hangTimeout = 10 * time.Minute

var (
	errHung     = errors.New("the case hung")
	errCanceled = errors.New("canceled by the case")
)
