package metrics_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/internal/bubble"
	"github.com/stampede-bench/stampede/internal/testenv"
	"github.com/stampede-bench/stampede/metrics"
)

// A noise generates the times between one grant and the next.
type noise func(r *rand.Rand) func() time.Duration

// mean is the mean time between two grants of every noise, without pauses.
const mean = 2 * time.Millisecond

func scaled(x float64) time.Duration { return time.Duration(x * float64(mean)) }

// noises returns distributions of ordinary gaps that occur on a busy machine.
func noises() map[string]noise {
	lognormal := func(r *rand.Rand) float64 { return math.Exp(r.NormFloat64() - 0.5) }
	return map[string]noise{
		"exponential": func(r *rand.Rand) func() time.Duration {
			return func() time.Duration { return scaled(r.ExpFloat64()) }
		},
		"lognormal": func(r *rand.Rand) func() time.Duration {
			return func() time.Duration { return scaled(lognormal(r)) }
		},
		"Pareto 2": func(r *rand.Rand) func() time.Duration { // infinite variance
			return func() time.Duration { return scaled(0.5 / math.Sqrt(1-r.Float64())) }
		},
		"autocorrelated 0.9": func(r *rand.Rand) func() time.Duration {
			level := 0.0
			return func() time.Duration {
				level = 0.9*level + math.Sqrt(1-0.81)*r.NormFloat64()
				return scaled(math.Exp(level-0.5) * r.ExpFloat64())
			}
		},
		"pauses of 5 to 50 ms": func(r *rand.Rand) func() time.Duration { // three a second
			return func() time.Duration {
				if d := scaled(r.ExpFloat64()); r.Float64() >= 3*mean.Seconds() {
					return d
				}
				return 5*time.Millisecond + time.Duration(r.Float64()*45e6)
			}
		},
		"periodic pauses": func(r *rand.Rand) func() time.Duration { // of 20 ms, after about 700 ms
			var since time.Duration
			return func() time.Duration {
				d := scaled(r.ExpFloat64())
				if since += d; since > 700*time.Millisecond {
					since, d = 0, d+20*time.Millisecond
				}
				return d
			}
		},
	}
}

// simulateFault is a run with noise and a fault, after which no client is served for the time
// outage.
func simulateFault(n noise, seed uint64, clients int, fault, window, outage time.Duration) metrics.Recovery {
	r := rand.New(rand.NewPCG(seed, 17))
	next, d := n(r), metrics.NewFaultLog(clients)
	d.Begin()
	start := time.Now()
	for at := next(); at < window; at += next() {
		if at < fault || at >= fault+outage {
			d.Served(r.IntN(clients), start.Add(at))
		}
	}
	time.Sleep(fault)
	d.Broke("mend every client", time.Now(), true)
	return d.Recoveries(window)[0]
}

// A fault without effect is reported as an outage, a stall of any client or a slowdown in at
// most 2 % of runs, however long the observation before it.
func TestFaultsThatDoNothingAreNotBlamed(t *testing.T) {
	testenv.SkipIfRaced(t)
	testenv.SkipIfShort(t)
	const runs, most = 1000, 0.02
	for name, n := range noises() {
		for _, before := range []time.Duration{50 * time.Millisecond, 500 * time.Millisecond, 4 * time.Second} {
			for _, clients := range []int{2, 32} {
				t.Run(fmt.Sprintf("%s/%v/%d clients", name, before, clients), func(t *testing.T) {
					bubble.Test(t, func(t *testing.T) {
						var blamed, outages, stalls int
						for seed := range uint64(runs) {
							v := simulateFault(n, seed, clients, before, before+2*time.Second, 0)
							if v.Effect == metrics.Outage || v.Effect == metrics.Slowdown || v.LongestStall != nil {
								blamed++
							}
							if v.Effect == metrics.Outage {
								outages++
							}
							if v.LongestStall != nil {
								stalls++
							}
							if v.Effect == metrics.NoEffect && (v.Pause != nil || v.Served != nil || v.Back != nil) {
								t.Fatalf("times of no outage: %+v", v)
							}
						}
						t.Logf("blamed in %.1f %% of %d runs: %d outages, %d waits of clients", 100*float64(blamed)/runs, runs, outages, stalls)
						if blamed > most*runs {
							t.Errorf("want at most %.0f %%", 100*most)
						}
					})
				})
			}
		}
	}
}

// An outage of a second is found in at least 95 % of runs, with the right length.
func TestOutagesAreFound(t *testing.T) {
	testenv.SkipIfRaced(t)
	testenv.SkipIfShort(t)
	const runs, least = 200, 0.95
	for name, n := range noises() {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				found := 0
				for seed := range uint64(runs) {
					v := simulateFault(n, seed, 8, time.Second, 4*time.Second, time.Second)
					if v.Effect == metrics.Outage && v.Served != nil && *v.Served >= time.Second && *v.Served < 1200*time.Millisecond && v.LongestStall != nil {
						found++
					}
				}
				if found < least*runs {
					t.Errorf("found %d of %d", found, runs)
				}
			})
		})
	}
}
