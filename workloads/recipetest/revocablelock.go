package recipetest

import (
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/workloads"
)

// A RevocableLockForm is a form of the revocable lock under test. It must meet all requirements
// of a shared lock except the settled cost. Its settled cost includes revocations, so package
// workloads plays that run.
type RevocableLockForm struct {
	Name string // the form's name in package cost
	New  func(c drivers.Conn, path string) workloads.RevocableLock
}

// RevocableLock is [Lock] for a revocable lock.
func RevocableLock(t *testing.T, service drivers.Service, form RevocableLockForm) {
	Lock(t, service, form.lock())
}

// RevocableLockBubbled is [LockBubbled] for a revocable lock.
func RevocableLockBubbled(t *testing.T, open func(t testing.TB) drivers.Service, form RevocableLockForm) {
	LockBubbled(t, open, form.lock())
}

func (f RevocableLockForm) lock() LockForm {
	form := SharedLockForm{Name: f.Name, New: func(c drivers.Conn, path string) workloads.SharedLock {
		return f.New(c, path)
	}}.lock()
	form.Recipe = "revocable-lock"
	return form
}
