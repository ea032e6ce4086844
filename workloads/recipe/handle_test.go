package recipe_test

import (
	"errors"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/recipe"
	"github.com/stampede-bench/stampede/workloads/runtest"
)

// An otherConn is a session with a capability that no session has.
type otherConn interface {
	drivers.Conn
	Fly() error
}

// TestAFormThatTheSessionCannotDo checks both ways in which a constructor rejects a session: by
// its parameter type, and by returning nil.
func TestAFormThatTheSessionCannotDo(t *testing.T) {
	for what, newWorkload := range map[string]workloads.Constructor{
		"needs another session": recipe.Locks(func(c otherConn, path string) *recipes.Lock { return recipes.NewLock(c, path) }),
		"is not there":          recipe.Locks(func(drivers.Conn, string) recipe.Lock { return nil }),
	} {
		runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
			form := workloads.Form{Recipe: "lock", Name: "test", Family: workloads.Library, New: newWorkload}
			_, err := workloads.Run(t.Context(), workloads.Plan{Service: s, Form: form, Clients: 1, Rounds: 1})
			if !errors.Is(err, drivers.ErrUnsupported) {
				t.Errorf("a form that %s: %v, want %v", what, err, drivers.ErrUnsupported)
			}
		})
	}
}
