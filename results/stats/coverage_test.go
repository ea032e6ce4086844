package stats_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stampede-bench/stampede/results/stats"

	"github.com/stampede-bench/stampede/internal/testenv"
)

// The noise of the simulations, as shares: that of a level, common to all its repetitions, and
// that of a repetition.
const (
	levelNoise = 0.03
	runNoise   = 0.02
)

// doubling returns n levels from first on, each twice the one before.
func doubling(first float64, n int) (levels []float64) {
	for range n {
		levels = append(levels, first)
		first *= 2
	}
	return levels
}

// simulated returns a sweep over a curve, with noise.
func simulated(curve func(float64) float64, at []float64, repeat int, random *rand.Rand) (levels []stats.Level) {
	for _, n := range at {
		l, apart := stats.Level{N: n}, levelNoise*random.NormFloat64()
		for range repeat {
			l.Values = append(l.Values, curve(n)*math.Exp(apart+runNoise*random.NormFloat64()))
		}
		levels = append(levels, l)
	}
	return levels
}

// share returns the share of the simulations for which does returns true.
func share(simulations int, does func(*rand.Rand) bool) float64 {
	random := rand.New(rand.NewPCG(8, 7))
	done := 0
	for range simulations {
		if does(random) {
			done++
		}
	}
	return float64(done) / float64(simulations)
}

// covers reports whether the interval contains the truth.
func covers(e stats.Estimate, truth float64) bool { return e.Low <= truth && truth <= e.High }

const leastCoverage = 0.9

// The interval of a cost's exponent contains the truth in at least nine of ten sweeps, whatever
// the number of repetitions.
func TestGrowthIntervalsCover(t *testing.T) {
	for _, repeat := range []int{1, 3, 10} {
		for _, levels := range []int{3, 4, 8} {
			got := share(1000, func(random *rand.Rand) bool {
				p, ok := stats.Grow(simulated(func(n float64) float64 { return 0.8 * math.Pow(n, 0.97) }, doubling(2, levels), repeat, random))
				return ok && covers(p.Exponent, 0.97)
			})
			t.Logf("%d levels × %d: %.1f %%", levels, repeat, 100*got)
			if got < leastCoverage {
				t.Errorf("%d levels × %d: the interval covers %.1f %%", levels, repeat, 100*got)
			}
		}
	}
}

// The interval of a median over repetitions does so too, where it claims 95 %.
func TestMedianIntervalsCover(t *testing.T) {
	for _, repeat := range []int{6, 10, 30} {
		got := share(1000, func(random *rand.Rand) bool {
			values := make([]float64, repeat)
			for i := range values {
				values[i] = 100 * math.Exp(runNoise*random.NormFloat64())
			}
			return covers(stats.Median(values), 100)
		})
		t.Logf("%d runs: %.1f %%", repeat, 100*got)
		if got < leastCoverage {
			t.Errorf("%d runs: the interval covers %.1f %%", repeat, 100*got)
		}
	}
}

// sweepsSimulated is enough to distinguish 5 % from 10 %, and does not take long.
const sweepsSimulated = 400

// The interval of a law's peak does so too, and a peak well within the levels is shown.
func TestPeakIntervalsCover(t *testing.T) {
	testenv.SkipIfShort(t)
	testenv.SkipIfRaced(t)
	for _, law := range []stats.USL{truth, {Alpha: 0.3, Beta: 0.001, Gamma: 12}, {Alpha: 0.001, Beta: 0.001, Gamma: 900}} {
		for _, repeat := range []int{1, 3, 10} {
			shown := 0
			got := share(sweepsSimulated, func(random *rand.Rand) bool {
				peak := peakOf(t, simulated(law.Value, doubling(2, 8), repeat, random))
				if peak.Shown {
					shown++
				}
				return covers(peak.Estimate, law.Knee())
			})
			t.Logf("a peak at %.0f, 8 levels × %d: %.1f %%, shown in %.1f %%", law.Knee(), repeat, 100*got, float64(shown)*100/sweepsSimulated)
			if got < leastCoverage || shown < sweepsSimulated*9/10 {
				t.Errorf("a peak at %.0f, 8 levels × %d: the interval covers %.1f %%, and it is shown in %d of %d", law.Knee(), repeat, 100*got, shown, sweepsSimulated)
			}
		}
	}
}

func peakOf(t *testing.T, levels []stats.Level) stats.Peak {
	t.Helper()
	law, err := stats.Scale(levels)
	if err != nil {
		t.Fatal(err)
	}
	return law.Peak(levels)
}

// On curves that never fall, a peak is claimed in at most one of twenty sweeps.
func TestNoPeakIsClaimedOfASaturatingCurve(t *testing.T) {
	testenv.SkipIfShort(t)
	testenv.SkipIfRaced(t)
	for name, curve := range map[string]func(float64) float64{
		"contention alone":       stats.USL{Alpha: 0.05, Gamma: 1000}.Value,
		"one limit, min(N, 40)":  func(n float64) float64 { return 1000 * min(n, 40) },
		"exponential saturation": func(n float64) float64 { return 40000 * (1 - math.Exp(-n/40)) },
		"tanh saturation":        func(n float64) float64 { return 40000 * math.Tanh(n/40) },
		"a straight line":        func(n float64) float64 { return 1000 * n },
		"flat":                   func(float64) float64 { return 1000 },
	} {
		for _, levels := range []int{4, 6, 8} {
			for _, repeat := range []int{3, 10} {
				got := share(sweepsSimulated, func(random *rand.Rand) bool {
					return peakOf(t, simulated(curve, doubling(2, levels), repeat, random)).Shown
				})
				what := fmt.Sprintf("%s, %d levels × %d", name, levels, repeat)
				t.Logf("%s: %.1f %%", what, 100*got)
				if got > 0.05 {
					t.Errorf("%s: a peak is claimed in %.1f %%", what, 100*got)
				}
			}
		}
	}
}
