package effect_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stampede-bench/stampede/effect"
)

// The noise that all of this has to stand: what a shared machine does to runs that
// come one after the other.
const (
	trials    = 2000
	drift     = 0.12 // standard deviation of the slow part, an AR(1)
	memory    = 0.9  // of it, from one run to the next
	jitter    = 0.04 // standard deviation of each run by itself
	disturbed = 0.08 // of the runs
	disturbs  = 1.5  // times
	minimum   = 0.05
)

// A machine tells the logarithms of latencies of runs, in the order in which they
// are done.
type machine struct {
	random *rand.Rand
	slow   float64
}

func newMachine(seed uint64) *machine {
	random := rand.New(rand.NewPCG(seed, 7))
	return &machine{random, drift * random.NormFloat64()}
}

func (m *machine) run(truth float64) float64 {
	m.slow = memory*m.slow + drift*math.Sqrt(1-memory*memory)*m.random.NormFloat64()
	log := truth + m.slow + jitter*m.random.NormFloat64()
	if m.random.Float64() < disturbed {
		log += math.Log(disturbs)
	}
	return log
}

// interleaved are the differences of pairs in the order base, new, new, base.
func interleaved(m *machine, pairs int, change float64) []float64 {
	d := make([]float64, pairs)
	for i := range d {
		if i%2 == 0 {
			base := m.run(0)
			d[i] = m.run(change) - base
		} else {
			d[i] = m.run(change)
			d[i] -= m.run(0)
		}
	}
	return d
}

// blocked are those of all runs of base followed by all of new.
func blocked(m *machine, pairs int, change float64) []float64 {
	d := make([]float64, pairs)
	for i := range d {
		d[i] = -m.run(0)
	}
	for i := range d {
		d[i] += m.run(change)
	}
	return d
}

// regressions is the share of the trials that end in one.
func regressions(design func(*machine, int, float64) []float64, pairs int, change float64) float64 {
	n := 0
	for seed := range uint64(trials) {
		d := design(newMachine(seed), pairs, math.Log1p(change))
		if effect.Decide(effect.Pairs(d), effect.PairsP(d), math.Log1p(minimum)) == effect.Regression {
			n++
		}
	}
	return float64(n) / trials
}

func TestNoiseIsNotCalledARegression(t *testing.T) {
	for _, pairs := range []int{6, 10, 20} {
		if share := regressions(interleaved, pairs, 0); share > 0.03 {
			t.Errorf("%d pairs: %.1f %% of the trials call no change a regression, want at most 3 %%", pairs, 100*share)
		} else {
			t.Logf("%d pairs: %.1f %%", pairs, 100*share)
		}
	}
}

func TestTenPercentIsFound(t *testing.T) {
	for pairs, least := range map[int]float64{10: 0.55, 20: 0.85} {
		if share := regressions(interleaved, pairs, 0.1); share < least {
			t.Errorf("%d pairs: 10 %% more is found in %.1f %% of the trials, want at least %.0f %%", pairs, 100*share, 100*least)
		} else {
			t.Logf("%d pairs: %.1f %%", pairs, 100*share)
		}
	}
}

// That is why runs are interleaved.
func TestBlocksAreWorse(t *testing.T) {
	for _, pairs := range []int{10, 20} {
		turns, blocks := regressions(interleaved, pairs, 0), regressions(blocked, pairs, 0)
		if blocks < 0.1 || blocks < 5*turns {
			t.Errorf("%d pairs: %.1f %% false regressions in blocks, %.1f %% in turns: want far more", pairs, 100*blocks, 100*turns)
		} else {
			t.Logf("%d pairs: %.1f %% in blocks, %.1f %% in turns", pairs, 100*blocks, 100*turns)
		}
	}
}
