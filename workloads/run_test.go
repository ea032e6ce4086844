package workloads_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/recipe"
	"github.com/stampede-bench/stampede/workloads/runtest"
)

func TestRunMeasuresWholeRounds(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		r := runtest.Measure(t, runtest.LockPlan(s, runtest.Predecessor))
		// Only the hold takes time here.
		if r.Duration != 300*time.Millisecond || r.Rounds != 300 {
			t.Errorf("%d rounds in %v, want 300 in 300ms", r.Rounds, r.Duration)
		}
		if r.WholeRounds <= r.Rounds || r.Whole.Lists != r.WholeRounds+r.Whole.WatchedExists {
			t.Errorf("%d whole rounds, %d lists, %d watches: lists ≠ rounds + watches",
				r.WholeRounds, r.Whole.Lists, r.Whole.WatchedExists)
		}
		if r.Safety.Violations != 0 || r.Safety.Checked != r.WholeRounds || !r.Safety.Tokens {
			t.Errorf("%+v; want %d grants checked, with tokens, no violation", r.Safety, r.WholeRounds)
		}
		if r.Herd.Largest != 1 || r.Fairness.Inversions != 0 || metrics.Jain(r.Fairness.Served) < 0.999 {
			t.Errorf("largest fan-out %d, %+v; want 1, and perfectly fair", r.Herd.Largest, *r.Fairness)
		}
	})
}

func TestRunByRounds(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		p := runtest.LockPlan(s, runtest.Predecessor)
		p.Duration, p.Rounds = 0, 40
		r := runtest.Measure(t, p)
		if r.Rounds < 40 || r.Rounds > 41 {
			t.Errorf("%d rounds, want 40, or 41 if two ended at once", r.Rounds)
		}
	})
}

func TestRunTellsProgress(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		p := runtest.LockPlan(s, runtest.Predecessor)
		p.Duration = time.Second
		var last workloads.Progress
		times := 0
		p.Progress = func(p workloads.Progress) { last = p; times++ }
		r := runtest.Measure(t, p)
		if times < 4 || last.Rounds == 0 || len(r.Intervals) != times {
			t.Errorf("told %d times, last %+v, %d intervals; want at least 4, and one interval each", times, last, len(r.Intervals))
		}
	})
}

// TestRunInterrupted checks that an interrupted run returns its measurements up to then, of whole
// rounds.
func TestRunInterrupted(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		ctx, cancel := context.WithTimeout(t.Context(), 120*time.Millisecond)
		defer cancel()
		r, err := workloads.Run(ctx, runtest.LockPlan(s, runtest.Predecessor))
		if !errors.Is(err, workloads.ErrInterrupted) {
			t.Fatalf("error %v, want ErrInterrupted", err)
		}
		if r.Rounds == 0 || r.Rounds >= 300 || r.Whole.Lists != r.WholeRounds+r.Whole.WatchedExists {
			t.Errorf("%d rounds, %d whole, %d lists, %d watches", r.Rounds, r.WholeRounds, r.Whole.Lists, r.Whole.WatchedExists)
		}
	})
}

// A freeLock does not wait: all clients hold it.
type freeLock struct{}

func (freeLock) Acquire(ctx context.Context) (context.Context, error) { return ctx, nil }
func (freeLock) Token() int64                                         { return drivers.NoSeq }
func (freeLock) Release(context.Context) error                        { return nil }

func TestRunCatchesALockThatDoesNotWait(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		r := runtest.Measure(t, runtest.LockPlan(s, func(drivers.Conn, string) recipe.Lock { return freeLock{} }))
		if r.Safety.Violations == 0 {
			t.Error("five clients held the lock at the same time without a violation")
		}
	})
}

// A tiredLock fails after some rounds.
type tiredLock struct {
	recipe.Lock
	left *atomic.Int64
	err  error
}

func (l tiredLock) Acquire(ctx context.Context) (context.Context, error) {
	if l.left.Add(-1) == 0 {
		return nil, l.err
	}
	return l.Lock.Acquire(ctx)
}

func TestRunEndsAtAnErrorThatIsNotOfTheSession(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		var left atomic.Int64
		left.Store(20)
		_, err := workloads.Run(t.Context(), runtest.LockPlan(s, func(c drivers.Conn, path string) recipe.Lock {
			return tiredLock{recipes.NewLock(c, path), &left, drivers.ErrRefused}
		}))
		if !errors.Is(err, drivers.ErrRefused) || !strings.Contains(err.Error(), "lock/test") {
			t.Errorf("error %v, want ErrRefused with the form's name", err)
		}
	})
}

// TestRunSurvivesALostSession checks that a client whose session is lost continues with a new one.
func TestRunSurvivesALostSession(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		var left atomic.Int64
		left.Store(100) // in the window
		r := runtest.Measure(t, runtest.LockPlan(s, func(c drivers.Conn, path string) recipe.Lock {
			return sessionLoser{recipes.NewLock(c, path), c, &left}
		}))
		if n := r.Errors[drivers.ErrSessionLost.Error()]; n != 1 {
			t.Errorf("%d lost sessions counted, want 1", n)
		}
		if r.Safety.Violations != 0 || r.Rounds < 200 {
			t.Errorf("%d violations, %d rounds; want none, and the others to go on", r.Safety.Violations, r.Rounds)
		}
	})
}

// TestErrorsAreThoseOfTheWindow checks that a run counts the errors of its window, as it counts all else, and
// that its progress counts those before and after it, too.
func TestErrorsAreThoseOfTheWindow(t *testing.T) {
	for name, c := range map[string]struct {
		from func(workloads.Plan) time.Duration // the first lock after that loses its session
		want int64
	}{
		"warm-up": {func(workloads.Plan) time.Duration { return 0 }, 0},
		"window":  {func(p workloads.Plan) time.Duration { return p.Warmup + p.Duration/2 }, 1},
		"drain":   {func(p workloads.Plan) time.Duration { return p.Warmup + p.Duration }, 0},
	} {
		runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
			var p workloads.Plan
			var began time.Time
			var reported, losses atomic.Int64
			p = runtest.LockPlan(s, func(conn drivers.Conn, path string) recipe.Lock {
				return windowLoser{recipes.NewLock(conn, path), conn, func() bool {
					return time.Since(began) >= c.from(p) && losses.Add(1) == 1
				}}
			})
			p.Progress = func(now workloads.Progress) { reported.Store(now.Errors) }
			began = time.Now()
			r := runtest.Measure(t, p)
			if n := r.Errors[drivers.ErrSessionLost.Error()]; n != c.want || reported.Load() != 1 || !r.Disturbed {
				t.Errorf("%s: %d errors, want %d; %d reported, want 1; disturbed: %v", name, n, c.want, reported.Load(), r.Disturbed)
			}
		})
	}
}

// A windowLoser closes its session after it has acquired the lock, when loses says so.
type windowLoser struct {
	recipe.Lock
	conn  drivers.Conn
	loses func() bool
}

func (l windowLoser) Acquire(ctx context.Context) (context.Context, error) {
	held, err := l.Lock.Acquire(ctx)
	if err == nil && l.loses() {
		l.conn.Close()
	}
	return held, err
}

// A sessionLoser closes its session once, after it has acquired the lock.
type sessionLoser struct {
	recipe.Lock
	conn drivers.Conn
	left *atomic.Int64
}

func (l sessionLoser) Acquire(ctx context.Context) (context.Context, error) {
	held, err := l.Lock.Acquire(ctx)
	if err == nil && l.left.Add(-1) == 0 {
		l.conn.Close()
	}
	return held, err
}
