package workloads_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/openloop"
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
			r := runtest.Measure(t, p)
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
		r := runtest.Measure(t, p)
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
		r := runtest.Measure(t, p)
		if r.Disturbed || r.WholeRounds < r.Rounds+12 {
			t.Errorf("disturbed %v, %d rounds, %d in all; want all that waited", r.Disturbed, r.Rounds, r.WholeRounds)
		}
	})
}

// TestInterruptedWindow interrupts runs at known times. One that is interrupted before its window opens has
// measured nothing, and one whose window was cut to less than half is doubtful.
func TestInterruptedWindow(t *testing.T) {
	// The last client arrives before the end of the ramp.
	const ramp, warmup, window = time.Second, time.Second, 4 * time.Second
	for name, c := range map[string]struct {
		after  time.Duration
		share  float64
		doubts bool
	}{
		"in the ramp": {ramp / 2, 0, true}, "in the warm-up": {ramp + warmup/2, 0, true},
		"early": {ramp + warmup + window/5, 0.2, true}, "late": {ramp + warmup + window*4/5, 0.8, false},
	} {
		for _, rate := range []float64{0, 40} {
			t.Run(fmt.Sprintf("%s, %v a second", name, rate), func(t *testing.T) {
				runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
					p := runtest.LockPlan(s, runtest.Predecessor)
					p.Ramp, p.Warmup, p.Duration = ramp, warmup, window
					p.Open.Rate = openloop.PerSecond(rate)
					ctx, interrupt := context.WithCancel(t.Context())
					defer time.AfterFunc(c.after, interrupt).Stop()
					if p.Open.Rate.Open() { // it has no ramp
						p.Warmup += ramp
					}
					r, err := workloads.Run(ctx, p)
					if !errors.Is(err, workloads.ErrInterrupted) {
						t.Fatal(err)
					}
					if got := r.Duration.Seconds() / window.Seconds(); math.Abs(got-c.share) > 0.06 {
						t.Errorf("the window lasted %v, want %.0f %%", r.Duration, 100*c.share)
					}
					of := slices.IndexFunc(r.Doubts, func(w metrics.Warning) bool { return w.Code == metrics.Interrupted })
					if (of >= 0) != c.doubts || of >= 0 && math.Abs(r.Doubts[of].Numbers["measured_share"]-c.share) > 0.06 {
						t.Errorf("%+v", r.Doubts)
					}
					if c.share == 0 && (r.Rounds > 0 || r.Counts.RPCs > 0 || has(r.Doubts, metrics.Unfinished)) {
						t.Errorf("%d rounds, %d requests, %+v", r.Rounds, r.Counts.RPCs, r.Doubts)
					}
				})
			})
		}
	}
}

// TestSessionsWithoutConnectionAtTheEdges closes all connections around the edges of the window and refuses
// new ones for a while. Each client that was without a connection at any time of the window was disconnected.
func TestSessionsWithoutConnectionAtTheEdges(t *testing.T) {
	const away = 300 * time.Millisecond
	for name, at := range map[string]time.Duration{
		"before the window": -900 * time.Millisecond, "across its opening": -200 * time.Millisecond,
		"inside it": time.Second, "across its end": edgeWindow - 200*time.Millisecond,
	} {
		inRelay(t, replyTime, 0, func(t *testing.T, s drivers.Service, r *relay) {
			p := edgePlan(s, r, formOf(t, "mix/operations"), 4, 100, nil)
			r.whenAsked(func() { time.AfterFunc(p.Warmup+at, func() { r.drop(away) }) })
			rec := p.ran(t)
			want := int64(4)
			if name == "before the window" {
				want = 0
			}
			warned := has(rec.Warnings, metrics.Disconnected)
			if rec.Sessions.Disconnected != want || warned != (want > 0) || rec.Sessions.Lost > 0 {
				t.Errorf("%s: %+v, %+v, want %d disconnected", name, rec.Sessions, rec.Warnings, want)
			}
		})
	}
}

// TestIntervalsOfALateSampler delays the process that divides the window: an interval begins when it was due,
// however late it is noted, so that intervals of several processes have the same times.
func TestIntervalsOfALateSampler(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		p := runtest.LockPlan(s, runtest.Predecessor)
		p.Duration = 2 * time.Second
		late := 600 * time.Millisecond
		p.Progress = func(workloads.Progress) {
			time.Sleep(late)
			late = 0
		}
		r := ran(t, p)
		var starts []time.Duration
		rounds := int64(0)
		for _, i := range r.Intervals {
			starts, rounds = append(starts, i.Start/time.Millisecond), rounds+i.Rounds
		}
		want := []time.Duration{0, 250, 750, 1000, 1250, 1500, 1750}
		if !slices.Equal(starts, want) || rounds != r.Rounds {
			t.Errorf("intervals begin at %d ms, want %d; %d rounds, want %d", starts, want, rounds, r.Rounds)
		}
	})
}

// A restarting service is one whose server begins to count anew in the window.
type restarting struct {
	drivers.Service
	readings []drivers.Reading // that are still to come
}

func (s *restarting) Reset(context.Context) error { return nil }

func (s *restarting) Counters(context.Context) (drivers.Reading, error) {
	first := s.readings[0]
	s.readings = s.readings[1:]
	return first, nil
}

// TestServerOfTwoLives checks that a run on a server that began anew in its window has no account of that server:
// nobody knows what it had counted by then.
func TestServerOfTwoLives(t *testing.T) {
	counted := func(began int64, n int64) drivers.ServerCounters {
		return drivers.ServerCounters{Began: time.Unix(began, 0), Counters: drivers.Counters{Notifications: n, Reads: n, Writes: n}}
	}
	for _, second := range []drivers.ServerCounters{counted(9, 50), counted(9, 500), counted(1, 50)} {
		runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
			through := counted(1, 100)
			r := runtest.Measure(t, runtest.LockPlan(&restarting{s, []drivers.Reading{{through, counted(1, 100)}, {through, second}}}, runtest.Predecessor))
			if r.Server != nil || r.ServerRounds != 0 {
				t.Errorf("%+v: the server's account is %+v of %d rounds, want none", second, r.Server, r.ServerRounds)
			}
		})
	}
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		r := runtest.Measure(t, runtest.LockPlan(&restarting{s, []drivers.Reading{{counted(1, 100)}, {counted(1, 107)}}}, runtest.Predecessor))
		if r.Server == nil || r.Server.Reads != 7 || r.ServerRounds == 0 {
			t.Errorf("the server's account is %+v of %d rounds, want 7 reads", r.Server, r.ServerRounds)
		}
	})
}
