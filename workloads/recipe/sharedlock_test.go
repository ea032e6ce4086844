package recipe_test

import (
	"context"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/recipe"
	"github.com/stampede-bench/stampede/workloads/runtest"
	"github.com/stampede-bench/stampede/workloads/settled"
)

func sharedPlan(s drivers.Service, open func(c drivers.Conn, path string) recipe.SharedLock) workloads.Plan {
	p := runtest.LockPlan(s, nil)
	p.Form = workloads.Form{Recipe: "shared-lock", Name: "test", Family: workloads.Recipe, New: recipe.SharedLocks(open)}
	return p
}

// TestRunSharesTheLock checks sharing with three readers per writer: five clients share most of
// their holds, so that more rounds fit into the window than without sharing.
func TestRunSharesTheLock(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		r := runtest.Measure(t, sharedPlan(s, func(c drivers.Conn, path string) recipe.SharedLock {
			return recipes.NewSharedLock(c, path)
		}))
		if r.Safety.Violations != 0 || r.Safety.Checked != r.WholeRounds || r.Rounds <= 300 {
			t.Errorf("%+v in %d rounds; want more than 300, and no violation", r.Safety, r.Rounds)
		}
		read, write := r.Phases[0], r.Phases[1]
		if read.Name != "read" || write.Name != "write" || write.Service.TotalCount() == 0 ||
			read.Service.TotalCount() < 2*write.Service.TotalCount() {
			t.Errorf("phase %s %d times, %s %d times; want about three reads to a write",
				read.Name, read.Service.TotalCount(), write.Name, write.Service.TotalCount())
		}
	})
}

// An openLock grants every read immediately.
type openLock struct {
	recipe.SharedLock
	reads bool
}

func (l *openLock) AcquireRead(ctx context.Context) (context.Context, error) {
	l.reads = true
	return ctx, nil
}

func (l *openLock) AcquireWrite(ctx context.Context) (context.Context, error) {
	l.reads = false
	return l.SharedLock.AcquireWrite(ctx)
}

func (l *openLock) Token() int64 { return drivers.NoSeq }

func (l *openLock) Release(ctx context.Context) error {
	if l.reads {
		return nil
	}
	return l.SharedLock.Release(ctx)
}

func TestRunCatchesReadersThatDoNotWait(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		r := runtest.Measure(t, sharedPlan(s, func(c drivers.Conn, path string) recipe.SharedLock {
			return &openLock{SharedLock: recipes.NewSharedLock(c, path)}
		}))
		if r.Safety.Violations == 0 {
			t.Error("readers held the lock with a writer without a violation")
		}
	})
}

func TestWriters(t *testing.T) {
	for _, c := range []struct{ readers, clients, want int }{
		{0, 1, 1}, {0, 3, 1}, {0, 8, 2}, {0, 64, 16}, {1, 8, 4}, {10, 8, 1}, {10, 64, 5},
	} {
		if got := (workloads.Settings{Readers: c.readers}).Writers(c.clients); got != c.want {
			t.Errorf("%d clients, %d readers to a writer: %d writers, want %d", c.clients, c.readers, got, c.want)
		}
	}
}

// TestSharedLockSettles checks that the largest fan-out of the recipe is that of a writer's
// release to readers, and that all of these readers make progress.
func TestSharedLockSettles(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		form := sharedPlan(s, func(c drivers.Conn, path string) recipe.SharedLock {
			return recipes.NewSharedLock(c, path)
		}).Form
		got, err := settled.Run(t.Context(), s, form, 6, workloads.Settings{Readers: 1})
		if err != nil {
			t.Fatal(err)
		}
		if got.Counts.Notifications != 5 || got.Largest != 3 || got.Safety.Checked != 6 || got.Safety.Violations != 0 {
			t.Errorf("%d notifications, at most %d at once, %+v; want 5, 3, and 6 grants", got.Counts.Notifications, got.Largest, got.Safety)
		}
	})
}
