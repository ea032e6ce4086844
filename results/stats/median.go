package stats

import (
	"math"
	"slices"
)

// Confidence is the confidence of every interval where there are enough observations.
const Confidence = 0.95

// An Estimate is a value with its confidence interval.
type Estimate struct {
	Value, Low, High float64
	// Confidence is the probability that such an interval contains the truth, 0 to 1. It is
	// less than [Confidence] where there are too few observations.
	Confidence float64
}

// Median returns the median of at least one value, with its exact
// interval by the sign test: the narrowest pair of order statistics that reaches Confidence.
// Fewer than six values cannot reach it; the interval is then from the smallest to the largest.
func Median(values []float64) Estimate {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	e := Estimate{Value: (sorted[(n-1)/2] + sorted[n/2]) / 2}
	cut := 0 // number of values left out on each side
	for cut+1 < (n+1)/2 && covers(n, cut+1) >= Confidence {
		cut++
	}
	e.Low, e.High, e.Confidence = sorted[cut], sorted[n-1-cut], covers(n, cut)
	return e
}

// covers returns the probability that the median of the distribution of n values lies between
// the smallest and the largest value left after cut values are removed from each side.
func covers(n, cut int) float64 {
	return 1 - 2*heads(n, cut)
}

// Next returns the probability that the next value is at least 0, predicted from two or more
// values of the same normal distribution, whose mean and scatter are known only from these
// values.
func Next(values []float64) float64 {
	n := float64(len(values))
	mean := Mean(values)
	scatter := math.Sqrt(squares(values, func(int) float64 { return mean }) / (n - 1))
	if scatter == 0 {
		if mean >= 0 {
			return 1
		}
		return 0
	}
	return student(n - 1).cumulative(mean / (scatter * math.Sqrt(1+1/n)))
}
