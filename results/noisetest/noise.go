// Package noisetest has the noise of simulated machines, for tests of everything that decides by runs.
package noisetest

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/stampede-bench/stampede/results"
)

// A Noise starts a machine: a function that returns, run after run, how much slower the run is than
// without noise, as a logarithm.
type Noise func(random *rand.Rand) func() float64

// A Kind is a noise with its name in tests and documents.
type Kind struct {
	Name string
	Noise
}

// Kinds returns the kinds of noise that every command that decides is tested with.
func Kinds() []Kind {
	return []Kind{
		{"normal, 8 %", Normal(0.08)}, {"autocorrelated (ρ = 0.5), 8 %", Autocorrelated(0.5, 0.08)},
		{"autocorrelated (ρ = 0.9), 12 %", Autocorrelated(0.9, 0.12)}, {"shared machine", Shared},
		{"two levels, half × 0.5", Levels(0.5, 0.5)}, {"two levels, 30 % × 0.7", Levels(0.3, 0.7)}, {"two levels, 10 % × 0.5", Levels(0.1, 0.5)},
	}
}

// Levels returns the noise of two kinds of machines, of which chance gives one to each run: the share of the runs is as much
// slower as the ratio says. Each run has noise of 2 % besides.
func Levels(share, ratio float64) Noise {
	return func(random *rand.Rand) func() float64 {
		return func() float64 {
			log := 0.02 * random.NormFloat64()
			if random.Float64() < share {
				log -= math.Log(ratio)
			}
			return log
		}
	}
}

// Normal returns normal noise that is independent for each run.
func Normal(sd float64) Noise {
	return func(random *rand.Rand) func() float64 { return func() float64 { return sd * random.NormFloat64() } }
}

// Autocorrelated returns a stationary AR(1) process.
func Autocorrelated(rho, sd float64) Noise {
	return func(random *rand.Rand) func() float64 {
		slow := sd * random.NormFloat64()
		return func() float64 {
			slow = rho*slow + sd*math.Sqrt(1-rho*rho)*random.NormFloat64()
			return slow
		}
	}
}

// Shared is the noise of a shared machine. It has a slow part with memory, an independent part for each
// run, and one run in twelve that takes half as long again.
func Shared(random *rand.Rand) func() float64 {
	slow, jitter := Autocorrelated(0.9, 0.12)(random), Normal(0.08)(random)
	return func() float64 {
		log := slow() + jitter()/2
		if random.Float64() < 0.08 {
			log += math.Log(1.5)
		}
		return log
	}
}

// Run returns a run of the lock whose rate, median and 99th percentile are slower by the given logarithms,
// and all of them by truth. An identity fixes its notifications per round.
func Run(logs [3]float64, truth float64) results.Run {
	rate := 5000 * math.Exp(-logs[0]-truth)
	p50 := int64(float64(time.Millisecond) * math.Exp(logs[1]+truth))
	p99 := int64(3 * float64(time.Millisecond) * math.Exp(logs[2]+truth))
	times := results.Latency{Response: &results.Distribution{P50: &p50, P90: &p50, P99: &p99}}
	notifications := results.Identity{Formula: "notifications = N", Fixes: "whole.notifications_per_round", Left: int64(rate), Right: int64(rate), Holds: true}
	return results.Run{Recipe: "lock", Form: "predecessor", Clients: 8, Phases: []string{"handoff"},
		DurationNS: time.Second, Rounds: int64(rate), ThroughputPerS: rate, Latency: map[string]results.Latency{"handoff": times},
		Cost: results.Cost{Whole: results.Totals{Notifications: int64(rate)}, WholeRounds: int64(rate),
			Expected: &results.Expected{Identities: []results.Identity{notifications}}}}
}
