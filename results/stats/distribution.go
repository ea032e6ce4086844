package stats

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// The distributions below are written with gonum's incomplete beta function. Its package of distributions
// brings matrices and LAPACK, which nothing here needs.

// A student is the t distribution with a number of degrees of freedom.
type student float64

// cumulative returns the probability of a value up to t.
func (free student) cumulative(t float64) float64 {
	if math.Abs(t) < inTheTail && free == student(math.Trunc(float64(free))) && free < manyFree {
		return (1 + free.central(t)) / 2
	}
	tail := mathext.RegIncBeta(float64(free)/2, 0.5, float64(free)/(float64(free)+t*t)) / 2
	if t > 0 {
		return 1 - tail
	}
	return tail
}

// inTheTail is where the tails are too thin to be told from the rest by a difference, and manyFree is where a series of
// half as many terms is no faster.
const (
	inTheTail = 6
	manyFree  = 1000
)

// central returns the probability of a value between −t and t, with the sign of t, for a whole number of degrees of freedom: a
// finite series (Abramowitz and Stegun, 1964, 26.7.3 and 26.7.4), which is much faster than the incomplete beta function.
func (free student) central(t float64) float64 {
	cos2 := float64(free) / (float64(free) + t*t)
	sin := t / math.Sqrt(float64(free)+t*t)
	if int(free)%2 == 0 {
		sum, term := 1.0, 1.0
		for i := 2.0; i < float64(free); i += 2 {
			term *= cos2 * (i - 1) / i
			sum += term
		}
		return sin * sum
	}
	sum, term := 0.0, math.Sqrt(cos2)
	for i := 1.0; i < float64(free); i += 2 {
		sum += term
		term *= cos2 * (i + 1) / (i + 2)
	}
	return 2 / math.Pi * (math.Atan(t/math.Sqrt(float64(free))) + sin*sum)
}

// quantile returns the value that is exceeded with a probability of 1 − p.
func (free student) quantile(p float64) float64 {
	if p == 0.5 {
		return 0
	}
	share := mathext.InvRegIncBeta(float64(free)/2, 0.5, 2*min(p, 1-p))
	return math.Copysign(math.Sqrt(float64(free)/share-float64(free)), p-0.5)
}

// fisher returns the quantile of the F distribution with 1 and free degrees of freedom at Confidence.
func fisher(free float64) float64 {
	share := mathext.InvRegIncBeta(0.5, free/2, Confidence)
	return free * share / (1 - share)
}

// heads returns the probability of at most k heads of n coins, 0 ≤ k < n.
func heads(n, k int) float64 {
	return mathext.RegIncBeta(float64(n-k), float64(k+1), 0.5)
}

// Mean returns the arithmetic mean of one value or more.
func Mean(values []float64) (mean float64) {
	for _, v := range values {
		mean += v / float64(len(values))
	}
	return mean
}

// squares returns the sum of the squared deviations of the values from the estimates.
func squares(values []float64, estimate func(i int) float64) (sum float64) {
	for i, v := range values {
		off := v - estimate(i)
		sum += off * off
	}
	return sum
}

// Line returns the straight line a + b·x through the points with the least squares. x has two values or
// more that differ.
func Line(x, y []float64) (a, b float64) {
	middle, level := Mean(x), Mean(y)
	var product, spread float64
	for i := range x {
		product += (x[i] - middle) * (y[i] - level)
		spread += (x[i] - middle) * (x[i] - middle)
	}
	b = product / spread
	return level - b*middle, b
}
