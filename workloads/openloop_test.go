package workloads_test

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/catalog"
	"github.com/stampede-bench/stampede/workloads/openloop"
	"github.com/stampede-bench/stampede/workloads/recipe"
	"github.com/stampede-bench/stampede/workloads/runtest"
)

// TestOpenLoopOfEveryForm checks for every form that work that arrives at a rate completes at that
// rate, and that its response times begin when it was due.
func TestOpenLoopOfEveryForm(t *testing.T) {
	for _, form := range catalog.Forms() {
		if form.Family == workloads.Library || form.Needs != "" {
			continue
		}
		rate, window := 16.0, 5*time.Second
		if form.Recipe == "reconnect" { // a round takes as long as the clients wait
			rate, window = 0.8, 100*time.Second
		}
		t.Run(form.String(), func(t *testing.T) {
			runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
				r := runtest.Measure(t, workloads.Plan{Service: s, Form: form, Clients: 6,
					Settings: workloads.Settings{Hold: 20 * time.Millisecond}, Warmup: time.Second, Duration: window, Seed: 1,
					Open: openloop.Options{Rate: openloop.PerSecond(rate), Arrival: openloop.Poisson}})
				g := r.Generator
				if g.Offered < 50 || g.Offered > 110 || g.Completed != g.Offered || g.Unaccounted() != 0 || r.Safety.Violations > 0 {
					t.Errorf("%+v, %+v; want about 80 offered and all done", g, r.Safety)
				}
				if done := r.Rounds; done < g.Offered-8 || done > g.Offered+8 {
					t.Errorf("%d rounds of %d offered", done, g.Offered)
				}
				for _, p := range r.Phases {
					if p.Name == "give-up" { // no update is refused ten times
						continue
					}
					if p.Service.TotalCount() == 0 || p.Response.TotalCount() != p.Service.TotalCount() || p.Response.Mean() < p.Service.Mean() {
						t.Errorf("%s: %d of %v on average, responses %d of %v", p.Name, p.Service.TotalCount(),
							time.Duration(p.Service.Mean()), p.Response.TotalCount(), time.Duration(p.Response.Mean()))
					}
				}
			})
		})
	}
}

// TestOpenLoopOverload offers more work than one lock with this hold time can serve. What waits when the
// window closes is served, and its response times include the wait. Only what is left after the end time is
// skipped, which the run must report.
func TestOpenLoopOverload(t *testing.T) {
	for _, c := range []struct {
		rate    float64
		skipped int64
		p90     time.Duration // of a queue that grows for ten seconds, and is served until it is empty or the end time
		code    string        // of the warning
	}{
		{200, 0, 9 * time.Second, metrics.Behind},
		{400, 1500, 0, metrics.Skipped},
	} {
		runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
			p := runtest.LockPlan(s, runtest.Predecessor)
			p.Settings.Hold = 10 * time.Millisecond
			p.Warmup, p.Duration = 0, 10*time.Second
			p.Open = openloop.Options{Rate: openloop.PerSecond(c.rate)}
			r := runtest.Measure(t, p)
			g, all := r.Generator, int64(10*c.rate)
			if g.Offered < all-1 || g.Offered > all || g.Skipped < c.skipped-10 || g.Skipped > c.skipped+10 || g.Late < 900 || g.Unfinished > 0 {
				t.Errorf("%v a second: %+v, want %d of %d skipped", c.rate, g, c.skipped, all)
			}
			if r.Rounds < 995 || r.Rounds > 1001 || r.Duration != p.Duration {
				t.Errorf("%v a second: %d rounds in %v, want the 1,000 that end in the window", c.rate, r.Rounds, r.Duration)
			}
			acquire := r.Phases[0]
			if p90 := time.Duration(acquire.Response.ValueAtQuantile(90)); c.p90 > 0 && (p90 < c.p90-100*time.Millisecond || p90 > c.p90+100*time.Millisecond) {
				t.Errorf("%v a second: the 90th percentile of the response time is %v, want %v", c.rate, p90, c.p90)
			}
			if max := time.Duration(acquire.Service.Max()); max > 100*time.Millisecond {
				t.Errorf("%v a second: the service time is up to %v, want that of five clients", c.rate, max)
			}
			if !has(r.Warnings, c.code) || has(r.Doubts, metrics.Skipped) != (c.skipped > 0) {
				t.Errorf("%v a second: warnings %v, doubts %v", c.rate, r.Warnings, r.Doubts)
			}
		})
	}
}

// TestOpenLoopAccountsForArrivalsLostWithTheirSession checks that arrivals whose session was lost
// count as failed: every offered arrival is accounted for, and the run reports the failure.
func TestOpenLoopAccountsForArrivalsLostWithTheirSession(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		var left atomic.Int64
		left.Store(20)
		p := runtest.LockPlan(s, func(c drivers.Conn, path string) recipe.Lock {
			return sessionLoser{recipes.NewLock(c, path), c, &left}
		})
		p.Duration, p.Open = 10*time.Second, openloop.Options{Rate: openloop.PerSecond(20)}
		r := runtest.Measure(t, p)
		g := r.Generator
		if g.Unaccounted() != 0 || g.Failed != 1 || g.Completed != g.Offered-1 || g.Offered < 199 {
			t.Errorf("%+v, want 1 of 200 arrivals failed and all others completed", g)
		}
		if !slices.ContainsFunc(r.Doubts, func(d metrics.Warning) bool { return d.Code == metrics.Failed }) {
			t.Errorf("doubts %v", r.Doubts)
		}
	})
}

// TestOpenLoopCountsOnlyRoundsThatEndedInTheWindow checks that arrivals in progress when the
// window closes are drained after it. They are among the response times, but not in the throughput
// or the cost per round. Messages after the window are not counted either.
func TestOpenLoopCountsOnlyRoundsThatEndedInTheWindow(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		p := runtest.LockPlan(s, runtest.Predecessor)
		p.Clients, p.Settings.Hold = 110, 10*time.Millisecond
		p.Warmup, p.Duration = 0, 2005*time.Millisecond
		p.Open = openloop.Options{Rate: openloop.PerSecond(150)}
		r := runtest.Measure(t, p)
		if r.Rounds < 195 || r.Rounds > 201 {
			t.Errorf("%d rounds, want the 200 that fit into two seconds of a hold of 10 ms", r.Rounds)
		}
		if perRound := float64(r.Counts.Notifications) / float64(r.Rounds); perRound < 0.98 || perRound > 1.02 {
			t.Errorf("%v notifications per round, want 1.00", perRound)
		}
		if g := r.Generator; g.Skipped+g.Unfinished > 0 || r.Phases[0].Response.TotalCount() < g.Offered-1 {
			t.Errorf("%+v and %d response times, want one of each arrival", g, r.Phases[0].Response.TotalCount())
		}
	})
}
