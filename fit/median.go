package fit

import (
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Confidence is that of every interval, where there are enough observations.
const Confidence = 0.95

// An Estimate is a value and the interval that it is to be found in.
type Estimate struct {
	Value, Low, High float64
	// Confidence is how often such an interval has the truth in it, 0 to 1. It
	// is less than [Confidence] where there are too few observations for that.
	Confidence float64
}

// Median is the median of the values, of which there is at least one, and its
// exact interval, by the sign test: the narrowest pair of order statistics that
// reaches Confidence, and from the least to the greatest value if none does,
// which are those of fewer than six.
func Median(values []float64) Estimate {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	e := Estimate{Value: (sorted[(n-1)/2] + sorted[n/2]) / 2}
	cut := 0 // values that are left out on each side
	for cut+1 < (n+1)/2 && covers(n, cut+1) >= Confidence {
		cut++
	}
	e.Low, e.High, e.Confidence = sorted[cut], sorted[n-1-cut], covers(n, cut)
	return e
}

// covers is how likely it is that the median of what n values come from lies
// between the least and the greatest of them but for cut on each side.
func covers(n, cut int) float64 {
	return 1 - 2*distuv.Binomial{N: float64(n), P: 0.5}.CDF(float64(cut))
}
