package stats

import (
	"math"
	"slices"
)

// A Decision is the conclusion from an estimate.
type Decision int

// The decisions.
const (
	Inconclusive Decision = iota // shown neither to be worse nor not to be worse
	Pass                         // shown not to be worse by enough to matter
	Improvement                  // a pass, and shown to be better
	Regression                   // shown to be worse, by enough to matter
)

// Limits are the effects that matter to a decision, in the unit of the estimate.
type Limits struct {
	// Minimum is the smallest effect that matters: the margin of a pass, and the smallest
	// estimate of a regression.
	Minimum float64
	// Floor is the noise floor, 0 where none is known. An estimate below it shows neither a
	// regression nor an improvement. It never widens the margin of a pass: otherwise a noisier
	// machine would pass more often.
	Floor float64
}

// Decide returns the decision for an estimate of a difference where a higher value is worse. p
// is the probability of such a difference if there is no effect, adjusted by [Holm] where
// several figures are judged. Both a regression and an improvement require a small p.
func Decide(e Estimate, p float64, l Limits) Decision {
	significant := p <= 1-Confidence && math.Abs(e.Value) >= l.Floor
	switch {
	case e.Confidence < Confidence:
		return Inconclusive
	case significant && e.Low > 0 && e.Value >= l.Minimum:
		return Regression
	case e.High < l.Minimum && significant && e.High < 0:
		return Improvement
	case e.High < l.Minimum:
		return Pass
	}
	return Inconclusive
}

// Holm adjusts probabilities for the number of figures judged together. It multiplies the
// smallest by their number n, the next by n−1, and so on, and makes none smaller than one
// before it.
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

// FewestPairs returns the number of pairs needed to show a difference in one of the figures
// that are judged together. With fewer, not even pairs that all differ in the same direction
// are unlikely enough.
func FewestPairs(figures int) int {
	n := 6
	for float64(max(figures, 1))*math.Pow(2, 1-float64(n)) > 1-Confidence {
		n++
	}
	return n
}
