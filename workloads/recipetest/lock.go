package recipetest

import (
	"cmp"
	"context"
	"slices"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/internal/bubble"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/cost"
)

// A LockForm is a form under test.
type LockForm struct {
	// Recipe and Name are the form's names in package cost; an empty Recipe means
	// "lock". The cost of a form without a model is not checked.
	Recipe, Name string
	New          func(c drivers.Conn, path string) workloads.Lock
	// Marks is the number of nodes that a holder has besides the one with which it waited.
	Marks int
	Library
}

// Library is non-nil if a client library ships the form. It maps the names of the cases
// that the form cannot pass to the reasons. Such a form does not report when it is parked,
// and the lock cases with lost replies do not apply to it.
type Library map[string]string

// shipped reports whether a client library ships the form.
func (l Library) shipped() bool { return l != nil }

// family returns the form's family, or "" if no client library ships it.
func (l Library) family() workloads.Family {
	if l.shipped() {
		return workloads.Library
	}
	return ""
}

// Company is a key of Library like the name of a case, for a form that fails if other
// clients use the service at the same time.
const Company = "company"

// Alone reports whether the form must be checked while no other client uses the service.
func (l Library) Alone() bool {
	_, alone := l[Company]
	return alone
}

// excuse skips a case that the library's form cannot pass.
func (l Library) excuse(t *testing.T, name string) {
	t.Helper()
	if why, cannot := l[name]; cannot {
		t.Skip(why)
	}
}

// Lock checks a form on a service that all cases share, and that others may use too. It
// returns before the last case has finished, as parallel tests do.
func Lock(t *testing.T, service drivers.Service, form LockForm) {
	checkAll(t, service, form, lockCases(form))
}

func checkAll(t *testing.T, service drivers.Service, form LockForm, cases []lockCase) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			form.excuse(t, c.name)
			if !form.Alone() {
				t.Parallel()
			}
			c.check(t, setting{service: service}, form)
		})
	}
}

// LockBubbled checks a form with a bubble and a service of its own for each case. It calls
// open within the bubble.
func LockBubbled(t *testing.T, open func(t testing.TB) drivers.Service, form LockForm) {
	checkBubbled(t, open, form, lockCases(form))
}

func checkBubbled(t *testing.T, open func(t testing.TB) drivers.Service, form LockForm, cases []lockCase) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				service := open(t)
				defer closed(t, service)
				c.check(t, setting{service: service, bubble: true}, form)
			})
		})
	}
}

// A lockCase is one requirement of a lock.
type lockCase struct {
	name string
	why  string // what the case requires, and why
	run  func(ctx context.Context, x *lockTrial)
}

// lockCases returns the cases that apply to a form.
func lockCases(form LockForm) []lockCase {
	cases := slices.Concat(lockTurns(), lockCancellation(), lockSessions())
	switch form.Recipe {
	case "revocable-lock":
		cases = slices.Concat(cases, sharedLockCases(), revocableLockCases())
	case "shared-lock":
		cases = slices.Concat(cases, sharedLockCases(), lockCosts())
	default:
		cases = slices.Concat(cases, lockCosts())
	}
	if form.shipped() {
		return cases
	}
	return append(cases, lockReplies()...)
}

// model returns the cost model of the form, or false if there is none.
func (f LockForm) model() (cost.Model, bool) { return cost.Of(cmp.Or(f.Recipe, "lock"), f.Name) }

func closed(t testing.TB, service drivers.Service) {
	if err := service.Close(); err != nil {
		t.Errorf("closing the service: %v", err)
	}
}
