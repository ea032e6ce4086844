package workloads_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/runtest"
)

// TestWindowLastsUntilEnoughRoundsHaveEnded checks that a window in which too few rounds end is
// extended by its duration until enough have ended or its limit is reached.
func TestWindowLastsUntilEnoughRoundsHaveEnded(t *testing.T) {
	for _, c := range []struct {
		least int64
		limit time.Duration
		want  time.Duration
	}{
		{0, time.Minute, 2500 * time.Millisecond},  // no minimum
		{2, time.Minute, 2500 * time.Millisecond},  // enough rounds have ended
		{20, time.Minute, 20 * time.Second},        // 20 rounds take 8 durations
		{20, 6 * time.Second, 5 * time.Second},     // a third duration would exceed the limit
		{20, time.Second, 2500 * time.Millisecond}, // the limit is shorter than the duration
	} {
		runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
			p := runtest.LockPlan(s, runtest.Predecessor)
			p.Settings.Hold, p.Duration, p.LeastRounds, p.DurationLimit = time.Second, 2500*time.Millisecond, c.least, c.limit
			r, err := workloads.Run(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			if r.Duration != c.want || r.Rounds != int64(c.want/time.Second) {
				t.Errorf("least %d, limit %v: %d rounds in %v, want %v", c.least, c.limit, r.Rounds, r.Duration, c.want)
			}
		})
	}
}

// TestLongQueuesAreAbandonedWithoutADoubt checks that the run does not wait for clients in a queue
// for a lock when the window closes, if their turns would take minutes, and that it does not doubt
// the window's results.
func TestLongQueuesAreAbandonedWithoutADoubt(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		p := runtest.LockPlan(s, runtest.Predecessor)
		p.Clients, p.Settings.Hold, p.Duration = 100, time.Second, 4500*time.Millisecond
		began := time.Now()
		r, err := workloads.Run(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("the run took %v: it waited for the queue", took)
		}
		abandoned := func(w metrics.Warning) bool { return w.Code == metrics.Abandoned }
		if slices.ContainsFunc(r.Doubts, abandoned) || !slices.ContainsFunc(r.Warnings, abandoned) {
			t.Errorf("doubts %v, warnings %v; want a warning that turns were abandoned, and no doubt", r.Doubts, r.Warnings)
		}
		if r.Rounds != 4 || !r.Disturbed || r.Safety.Violations > 0 {
			t.Errorf("%d rounds, disturbed %v, %+v; want 4 rounds, whose identities are not checked", r.Rounds, r.Disturbed, r.Safety)
		}
	})
}

// TestShortQueuesAreServed checks that a queue that can be served in time is served, so that all
// rounds are whole.
func TestShortQueuesAreServed(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		p := runtest.LockPlan(s, runtest.Predecessor)
		p.Clients, p.Settings.Hold, p.Duration = 12, time.Second, 4500*time.Millisecond
		r, err := workloads.Run(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		if r.Disturbed || r.WholeRounds < r.Rounds+12 {
			t.Errorf("disturbed %v, %d rounds, %d in all; want all that waited", r.Disturbed, r.Rounds, r.WholeRounds)
		}
	})
}
