package metrics_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stampede-bench/stampede/metrics"
)

// A tally says of any values what the sorted values say, and the histogram made of it agrees, however
// near to each other large values are.
func TestTallyEqualsSortedValues(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 1))
		tally, other := metrics.Tally{}, metrics.Tally{}
		values := make([]int64, 1+r.IntN(500))
		sum := int64(0)
		for i := range values {
			values[i] = 1 + r.Int64N(5)*50_000 + r.Int64N(20)
			sum += values[i]
			if i%2 == 0 {
				tally[values[i]]++
			} else {
				other[values[i]]++
			}
		}
		tally.Add(other)
		slices.Sort(values)
		n := len(values)
		if tally.Count() != int64(n) || tally.Min() != values[0] || tally.Max() != values[n-1] || tally.Mean() != float64(sum)/float64(n) {
			t.Errorf("seed %d: %d values of %d to %d, mean %v", seed, tally.Count(), tally.Min(), tally.Max(), tally.Mean())
		}
		h := tally.Histogram()
		for _, percent := range []float64{0, 1, 50, 90, 99, 99.9, 100} {
			rank := min(max(int(percent/100*float64(n)+0.5), 1), n)
			if got, want := tally.Quantile(percent), values[rank-1]; got != want || h.ValueAtQuantile(percent) != want {
				t.Errorf("seed %d: %v %% of %d values do not exceed %d, in the histogram %d, want %d", seed, percent, n, got, h.ValueAtQuantile(percent), want)
			}
		}
	}
}

func TestEmptyTally(t *testing.T) {
	tally := metrics.Tally{}
	tally.Add(nil)
	if tally.Count() != 0 || tally.Min() != 0 || tally.Max() != 0 || tally.Mean() != 0 || tally.Quantile(50) != 0 || tally.Histogram().TotalCount() != 0 {
		t.Errorf("%v", maps.Collect(maps.All(tally)))
	}
}
