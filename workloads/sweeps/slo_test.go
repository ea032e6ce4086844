package sweeps_test

import (
	"context"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/internal/testenv"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/openloop"
	"github.com/stampede-bench/stampede/workloads/runtest"
	"github.com/stampede-bench/stampede/workloads/sweeps"
)

// serviceTime is how long each read of the service under test takes. One client makes one read at a time, so
// Poisson arrivals find an M/D/1 queue. A queue with a service of 50 ms and a limit of 500 ms is the same in
// a tenth of the time.
const (
	serviceTime = 5 * time.Millisecond
	limit       = 10 * serviceTime
)

type constantTime struct{ drivers.Conn }

func (c constantTime) Get(ctx context.Context, _ string, _ drivers.Watch) ([]byte, drivers.Stat, error) {
	return nil, drivers.Stat{}, drivers.Pause(ctx, serviceTime)
}

func (c constantTime) Flush(ctx context.Context) error { return c.Conn.(drivers.Flusher).Flush(ctx) }

// waitsLess returns the probability that an arrival of an M/D/1 queue waits for less than x at the rate.
//
// Source: Crommelin: Delay Probability Formulae (1934).
func waitsLess(x time.Duration, rate float64) (p float64) {
	d := serviceTime.Seconds()
	factorial := 1.0
	for i := 0; i <= int(x/serviceTime); i++ {
		factorial *= float64(max(i, 1))
		a := rate * (x.Seconds() - float64(i)*d)
		p += math.Pow(-a, float64(i)) / factorial * math.Exp(a)
	}
	return (1 - rate*d) * p
}

// queueRun measures the queue at a rate.
func queueRun(t *testing.T, s drivers.Service, rate float64, window time.Duration, seed uint64) results.Run {
	sessions := 0
	p := runtest.MixPlan(runtest.Hooked(s, func(c drivers.Conn) drivers.Conn {
		if sessions++; sessions == 1 { // which sets the run up
			return c
		}
		return constantTime{c}
	}), workloads.MixSettings{Reads: 1, Keys: 10})
	p.Clients, p.Settings.Think, p.Warmup, p.Duration, p.Seed = 1, 0, time.Second, window, seed
	p.Open = openloop.Options{Rate: openloop.PerSecond(rate), Arrival: openloop.Poisson}
	r := runtest.Measure(t, p)
	// The clock is not that of the machine, whose load means nothing here.
	r.Doubts = slices.DeleteFunc(r.Doubts, func(w metrics.Warning) bool { return metrics.DistortionOf(w.Code) == metrics.TooLong })
	return results.FromRecord(results.Setting{}, r)
}

// TestSearchFindsTheLoadOfTheory searches the highest rate at which the 90th percentile of the response time
// stays below the limit. It must be 90 to 105 % of the rate at which the theory of queues says so, for every
// seed.
func TestSearchFindsTheLoadOfTheory(t *testing.T) {
	testenv.SkipIfShort(t)
	seeds := uint64(20)
	if testing.Short() {
		seeds = 2
	}
	o, err := sweeps.ParseObjective("read.p90<50ms", []string{"read"})
	if err != nil {
		t.Fatal(err)
	}
	theory := 100.0
	for waitsLess(limit-serviceTime, theory) > 0.9 {
		theory += 0.1
	}
	if theory < 174 || theory > 178 {
		t.Fatalf("the theory says %.2f/s", theory)
	}
	var grid []float64
	for rate := 100.0; rate < 200; rate *= 1.02 {
		grid = append(grid, rate)
	}
	runtest.InBubble(t, func(t *testing.T, service drivers.Service) {
		for seed := range seeds {
			runs := seed << 32
			search := sweeps.Search{Grid: grid, Times: 3, Try: func(rate float64) (sweeps.Trial, error) {
				runs++
				return o.Judge(queueRun(t, service, rate, time.Minute, runs)), nil
			}}
			found, err := search.Highest()
			if err != nil {
				t.Fatal(err)
			}
			if found.Level < 0.9*theory || found.Level > 1.05*theory {
				t.Errorf("seed %d: %+v; the theory says %.2f/s", seed, found, theory)
			}
		}
	})
}

// TestNothingIsLostAtModerateLoad runs short windows at 60 % of what the service can do. An arrival often
// waits when the window closes. It must be served, so that no time of the run is in doubt.
func TestNothingIsLostAtModerateLoad(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, service drivers.Service) {
		for seed := range uint64(50) {
			r := queueRun(t, service, 0.6/serviceTime.Seconds(), time.Second, seed)
			if r.Generator.Lost() > 0 || len(r.Doubts) > 0 || r.Latency["read"].Count != r.Generator.Offered {
				t.Errorf("seed %d: %+v, %d times, doubts %v", seed, r.Generator, r.Latency["read"].Count, r.Doubts)
			}
		}
	})
}
