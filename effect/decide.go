package effect

import (
	"math"
	"slices"

	"github.com/stampede-bench/stampede/fit"
)

// A Decision is what follows from an estimate.
type Decision int

// The decisions.
const (
	Inconclusive Decision = iota // neither shown to be worse nor shown not to be
	Pass                         // shown not to be worse by enough to matter
	Better                       // a pass, and shown to be better
	Regression                   // shown to be worse, by enough to matter
)

// Decide says what follows from an estimate of which more is worse, if less than
// minimum does not matter. P is the probability of such a difference where there
// is none; it is that of [Holm] where there are several figures, and only keeps
// back a regression.
func Decide(e fit.Estimate, p, minimum float64) Decision {
	switch {
	case e.Confidence < fit.Confidence:
		return Inconclusive
	case e.Low > 0 && e.Value >= minimum && p <= 1-fit.Confidence:
		return Regression
	case e.High < minimum && e.High < 0:
		return Better
	case e.High < minimum:
		return Pass
	}
	return Inconclusive
}

// Holm are the probabilities as they are where so many figures are judged at once:
// the least times how many there are, the next times one less, and so on, none less
// than one before it.
func Holm(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		if p[i] < p[j] {
			return -1
		}
		return 1
	})
	adjusted := make([]float64, len(p))
	most := 0.0
	for rank, i := range order {
		most = max(most, min(1, float64(len(p)-rank)*p[i]))
		adjusted[i] = most
	}
	return adjusted
}

// FewestPairs are how many pairs it takes to show a difference of one of so many
// figures that are judged at once: with fewer not even pairs that all differ in the
// same direction are unlikely enough.
func FewestPairs(figures int) int {
	n := 6
	for float64(max(figures, 1))*math.Pow(2, 1-float64(n)) > 1-fit.Confidence {
		n++
	}
	return n
}
