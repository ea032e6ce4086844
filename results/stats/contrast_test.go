package stats_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stampede-bench/stampede/results/noisetest"
	"github.com/stampede-bench/stampede/results/stats"
)

// halves says that the second half of n values is of the other side.
func halves(n int) []bool {
	return slices.Concat(make([]bool, n/2), slices.Repeat([]bool{true}, n-n/2))
}

func noisy(noise noisetest.Noise, n int, random *rand.Rand) (values []float64) {
	machine := noise(random)
	for range n {
		values = append(values, machine())
	}
	return values
}

// A difference that is added to one side moves the estimate and its interval by as much, and the
// probability is that of the moved values.
func TestContrastMovesWithTheDifference(t *testing.T) {
	values, other := noisy(noisetest.Shared, 24, rand.New(rand.NewPCG(1, 1))), halves(24)
	moved := slices.Clone(values)
	for i := 12; i < 24; i++ {
		moved[i] += 0.3
	}
	before, after := stats.NewContrast(values, other), stats.NewContrast(moved, other)
	a, b := before.Interval(0.99), after.Interval(0.99)
	for _, d := range []float64{b.Value - a.Value, b.Low - a.Low, b.High - a.High} {
		if math.Abs(d-0.3) > 1e-3 {
			t.Errorf("%+v and %+v, want 0.3 more", a, b)
		}
	}
	if math.Abs(before.P(0.3)-after.P(0)) > 1e-9 {
		t.Errorf("%v and %v", before.P(0.3), after.P(0))
	}
}

// The interval of the usual confidence contains the truth in at least nine of ten series of any noise, and
// is narrower if the sides alternate than if one follows the other.
func TestContrastIntervalsCover(t *testing.T) {
	for _, k := range noisetest.Kinds() {
		for _, n := range []int{10, 20, 40} {
			alternating := make([]bool, n)
			for i := range alternating {
				alternating[i] = i%2 == 1
			}
			var widths [2][]float64
			for i, other := range [][]bool{halves(n), alternating} {
				got := share(sweepsSimulated/4, func(random *rand.Rand) bool {
					e := stats.NewContrast(noisy(k.Noise, n, random), other).Interval(stats.Confidence)
					widths[i] = append(widths[i], e.High-e.Low)
					return covers(e, 0)
				})
				t.Logf("%s, %d values: %.1f %%", k.Name, n, 100*got)
				if got < leastCoverage {
					t.Errorf("%s, %d values: the interval covers %.1f %%", k.Name, n, 100*got)
				}
			}
			if blocks, turns := stats.Median(widths[0]).Value, stats.Median(widths[1]).Value; turns >= blocks {
				t.Errorf("%s, %d values: the interval is %.3f wide in blocks and %.3f by turns", k.Name, n, blocks, turns)
			}
		}
	}
}

// Memory widens the interval: the same values in another order say less of the difference.
func TestMemoryWidensTheInterval(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	width := func(values []float64) float64 {
		e := stats.NewContrast(values, halves(len(values))).Interval(stats.Confidence)
		return e.High - e.Low
	}
	values := noisy(noisetest.Autocorrelated(0.9, 0.1), 80, random)
	near := width(values)
	for _, side := range [][]float64{values[:40], values[40:]} {
		random.Shuffle(len(side), func(i, j int) { side[i], side[j] = side[j], side[i] })
	}
	if apart := width(values); near < 2*apart {
		t.Errorf("%.3f wide in the order of the values, %.3f in a drawn one", near, apart)
	}
}

// One run that is disturbed counts as three standard deviations.
func TestOutlierIsClipped(t *testing.T) {
	values := noisy(noisetest.Normal(0.1), 20, rand.New(rand.NewPCG(3, 3)))
	values[4] = 50
	clipped := stats.Clip(values, halves(20))
	if clipped[4] > 1 || slices.Compare(clipped[5:], values[5:]) != 0 {
		t.Errorf("%v", clipped)
	}
	counts := []float64{1, 1, 1, 2, 1, 1}
	if got := stats.Clip(counts, halves(6)); slices.Compare(got, counts) != 0 {
		t.Errorf("%v: what differs from many equal values is no outlier", got)
	}
}
