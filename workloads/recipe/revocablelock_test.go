package recipe_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/recipe"
	"github.com/stampede-bench/stampede/workloads/runtest"
)

// runRevocable runs the lock with about every second round revoking it.
func runRevocable(t *testing.T, s drivers.Service, open func(drivers.Conn, string) recipe.RevocableLock) (*metrics.Record, error) {
	p := runtest.LockPlan(s, nil)
	p.Settings.RevokeEvery = 2
	p.Form = workloads.Form{Recipe: "revocable-lock", Name: "test", Family: workloads.Recipe,
		New: recipe.RevocableLocks(func(c drivers.Conn, path string) recipe.RevocableLock { return open(c, path) })}
	return workloads.Run(t.Context(), p)
}

// TestRunRevokesTheLock checks that about every second round revokes the lock, and that no two
// holds overlap.
func TestRunRevokesTheLock(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		r, err := runRevocable(t, s, func(c drivers.Conn, path string) recipe.RevocableLock {
			return recipes.NewRevocableLock(c, path)
		})
		if err != nil {
			t.Fatal(err)
		}
		if s := r.Safety; s.Violations != 0 || s.BeliefOverlaps != 0 || s.Checked != r.WholeRounds {
			t.Errorf("%+v in %d rounds; want no overlap of either kind", s, r.WholeRounds)
		}
		revoke := r.Phases[2]
		if n := revoke.Service.TotalCount(); revoke.Name != "revoke" || n < r.Rounds/3 || n > r.Rounds*2/3 {
			t.Errorf("phase %s %d times in %d rounds, want every second time", revoke.Name, n, r.Rounds)
		}
	})
}

func TestRunWithForceOverlapsByBelief(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		r, err := runRevocable(t, s, func(c drivers.Conn, path string) recipe.RevocableLock {
			return recipes.NewLaserBeamLock(c, path, 100*time.Microsecond)
		})
		if err != nil {
			t.Fatal(err)
		}
		if s := r.Safety; s.Violations != 0 || s.BeliefOverlaps == 0 || s.TokensRefused != s.BeliefOverlaps {
			t.Errorf("%+v; want overlaps of belief, each with an older token to refuse", s)
		}
	})
}

// A robber takes the lock by force and does not report it.
type robber struct{ *recipes.LaserBeamLock }

func (robber) Deposed() int64 { return 0 }

func TestRunCatchesARobber(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		r, err := runRevocable(t, s, func(c drivers.Conn, path string) recipe.RevocableLock {
			return robber{recipes.NewLaserBeamLock(c, path, 100*time.Microsecond)}
		})
		if err != nil {
			t.Fatal(err)
		}
		if r.Safety.Violations == 0 {
			t.Errorf("holders lost the lock without a violation: %+v", r.Safety)
		}
	})
}

// TestRunEndsWhenAHolderIsDeposedWithoutNotice checks that a form that is not a Deposer must not
// take the lock from a holder: two clients hold it, and the holder's release then fails and ends the run.
func TestRunEndsWhenAHolderIsDeposedWithoutNotice(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		r, err := runRevocable(t, s, func(c drivers.Conn, path string) recipe.RevocableLock {
			return disguised{recipes.NewLaserBeamLock(c, path, 100*time.Microsecond)}
		})
		if err != nil {
			t.Fatal(err)
		}
		ended := func(d string) bool {
			return strings.HasPrefix(d, metrics.EndedEarly) && strings.Contains(d, drivers.ErrNoNode.Error())
		}
		if r.Safety.Violations == 0 || !slices.ContainsFunc(r.Safety.Details, ended) {
			t.Errorf("%+v; want a violation, and that the run ended early by %v", r.Safety, drivers.ErrNoNode)
		}
	})
}

// disguised hides the method Deposed.
type disguised struct{ recipe.RevocableLock }
