package metrics

import (
	"maps"
	"slices"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// A Tally counts how often each value of a count came, such as the number of notifications of a write. It
// is exact, unlike a histogram, which joins large values that are near each other. It has an entry for
// each distinct value, and these are few: a fan-out of n takes n notifications.
type Tally map[int64]int64

// Add adds all values of another tally.
func (t Tally) Add(other Tally) {
	for value, times := range other {
		t[value] += times
	}
}

// Count returns the number of values.
func (t Tally) Count() (n int64) {
	for _, times := range t {
		n += times
	}
	return n
}

// Min returns the smallest value, 0 if there is none.
func (t Tally) Min() int64 {
	if len(t) == 0 {
		return 0
	}
	return slices.Min(slices.Collect(maps.Keys(t)))
}

// Max returns the largest value, 0 if there is none.
func (t Tally) Max() (largest int64) {
	for value := range t {
		largest = max(largest, value)
	}
	return largest
}

// Mean returns the mean of the values, 0 if there is none.
func (t Tally) Mean() float64 {
	sum := int64(0)
	for value, times := range t {
		sum += value * times
	}
	return float64(sum) / float64(max(t.Count(), 1))
}

// Quantile returns the value that percent of the values do not exceed, 0 if there is none. The rank is
// that of a histogram.
func (t Tally) Quantile(percent float64) int64 {
	count := t.Count()
	rank := min(max(int64(percent/100*float64(count)+0.5), 1), count)
	for _, value := range slices.Sorted(maps.Keys(t)) {
		if rank -= t[value]; rank <= 0 {
			return value
		}
	}
	return 0
}

// tallyDigits are so many that a histogram of values up to 262,143 is exact.
const tallyDigits = 5

// Histogram returns the values for tools that read histograms.
func (t Tally) Histogram() *hdrhistogram.Histogram {
	h := hdrhistogram.New(1, max(t.Max(), 2), tallyDigits)
	for value, times := range t {
		_ = h.RecordValues(value, times) // in range
	}
	return h
}
