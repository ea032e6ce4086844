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
	// Recipe and Name are the form's names in package cost, Recipe "lock" if
	// it is empty. A form without a model there is not asked about its cost.
	Recipe, Name string
	New          func(c drivers.Conn, path string) workloads.Lock
	// Marks is how many nodes a holder has besides the one it waited with.
	Marks int
	Library
}

// Library says of a form that it is what a client library ships, if it is: the
// reasons why it cannot keep what some cases ask for, by their names. nil if it is
// not. Such a form does not say when it is parked, and a lock is not asked to
// survive lost replies.
type Library map[string]string

// shipped tells whether the form is a library's.
func (l Library) shipped() bool { return l != nil }

// family is the form's, "" if it is not a library's.
func (l Library) family() workloads.Family {
	if l.shipped() {
		return workloads.Library
	}
	return ""
}

// Company is what a library may be unable to stand as it may be to keep a case:
// others who use the service at the same time.
const Company = "company"

// Alone tells whether the form is checked while nobody else uses the service.
func (l Library) Alone() bool {
	_, alone := l[Company]
	return alone
}

// excuse skips a case that the library cannot keep.
func (l Library) excuse(t *testing.T, name string) {
	t.Helper()
	if why, cannot := l[name]; cannot {
		t.Skip(why)
	}
}

// Lock checks a form on a service, which all cases share and may share with
// anybody else. It returns before the last of them is done, as parallel tests do.
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

// LockBubbled checks a form with a bubble and a service of its own for every
// case: open is called within the bubble.
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

// A lockCase is one thing that is asked of a lock.
type lockCase struct {
	name string
	why  string // what is asked for, and why
	run  func(ctx context.Context, x *lockTrial)
}

// lockCases are what is asked of a form.
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

// model is what the form costs, false if nobody knows.
func (f LockForm) model() (cost.Model, bool) { return cost.Of(cmp.Or(f.Recipe, "lock"), f.Name) }

func closed(t testing.TB, service drivers.Service) {
	if err := service.Close(); err != nil {
		t.Errorf("closing the service: %v", err)
	}
}
