package workloads_test

import (
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads/runtest"
)

// TestWarmup checks that a run warms up until throughput is steady, at most for its limit, and
// without a limit for the plan's warm-up.
func TestWarmup(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		p := runtest.LockPlan(s, runtest.Predecessor)
		p.Warmup, p.WarmupLimit, p.Settings.Hold = time.Second, 10*time.Second, 10*time.Millisecond
		if w := ran(t, p).Warmup; !w.Steady || w.Took < p.Warmup || w.Took > p.WarmupLimit || len(w.Rates) < 4 || w.Rates[1] == 0 {
			t.Errorf("%+v", w)
		}
		p.WarmupLimit = 1500 * time.Millisecond // too short for a steady throughput
		if w := ran(t, p).Warmup; w.Steady || w.Took != p.WarmupLimit || len(w.Rates) != 3 {
			t.Errorf("%+v", w)
		}
		p.WarmupLimit = 0
		if w := ran(t, p).Warmup; w.Steady || w.Took != p.Warmup || w.Rates != nil {
			t.Errorf("%+v", w)
		}
	})
}

// TestColdServerIsWarnedOf checks that the warm-up of a cold server is divided into longer slices,
// and that the run warns if throughput still rose at its end.
func TestColdServerIsWarnedOf(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		p := runtest.LockPlan(s, runtest.Predecessor)
		p.Warmup, p.WarmupLimit, p.Cold, p.Settings.Hold = 200*time.Millisecond, time.Second, true, 10*time.Millisecond
		r := ran(t, p)
		if len(r.Warmup.Rates) != 2 || r.Warmup.Took != time.Second || !has(r.Warnings, metrics.NotWarm) {
			t.Errorf("%+v: %v", r.Warmup, r.Warnings)
		}
	})
}
