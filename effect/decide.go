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

// Limits are the effects that matter to a decision, in the unit of the estimate.
type Limits struct {
	// Minimum is the least effect that matters: the margin of a pass, and the
	// least estimate of a regression.
	Minimum float64
	// Floor is the noise floor, 0 where none is known. An estimate below it shows
	// neither a regression nor an improvement. It never widens the margin of a pass:
	// else a noisier machine would pass more.
	Floor float64
}

// Decide says what follows from an estimate of which more is worse. P is the
// probability of such a difference where there is none, adjusted by [Holm] where
// several figures are judged: both a regression and an improvement need it.
func Decide(e fit.Estimate, p float64, l Limits) Decision {
	significant := p <= 1-fit.Confidence && math.Abs(e.Value) >= l.Floor
	switch {
	case e.Confidence < fit.Confidence:
		return Inconclusive
	case significant && e.Low > 0 && e.Value >= l.Minimum:
		return Regression
	case e.High < l.Minimum && significant && e.High < 0:
		return Better
	case e.High < l.Minimum:
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

// FewestPairs is how many pairs it takes to show a difference of one of the figures
// that are judged together: with fewer, not even pairs that all differ in the same
// direction are unlikely enough.
func FewestPairs(figures int) int {
	n := 6
	for float64(max(figures, 1))*math.Pow(2, 1-float64(n)) > 1-fit.Confidence {
		n++
	}
	return n
}

// FewestRuns is how many unpaired runs of each side it takes to show a difference of
// one of the figures that are judged together: with fewer, not even two sides of which
// every run of one lies above every run of the other are unlikely enough.
func FewestRuns(figures int) int {
	n := 4
	for !CanShow(n, n, figures) {
		n++
	}
	return n
}

// CanShow tells whether a difference of one of the figures that are judged together
// can be shown by unpaired runs of the two sides.
func CanShow(base, other, figures int) bool {
	least := 2 * rankSums(base, other)[0] // where the two sides do not overlap
	return float64(max(figures, 1))*least <= 1-fit.Confidence
}
