package stats

import (
	"math"
	"math/rand/v2"
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

// resamples is the number of samples that Floor draws: enough that fifty lie beyond the 95th
// percentile.
const resamples = 1000

// Floor returns the size of the difference that the given number of pairs shows when there is
// no difference. It is the 95th percentile of the magnitude of the [Pairs] estimate, over pairs
// drawn with random sign from the differences between two identical sides. It is NaN without
// differences.
//
// Note: the floor is that of the estimate, not of single pairs. The scatter of single pairs
// does not shrink with their number, so their percentile would hide a change that twenty pairs
// show beyond doubt. With few pairs, the percentile of single pairs would admit noise that the
// percentile of the estimate rejects. The signs are random because the order of two identical
// sides is arbitrary. The floor does not include drift from one calibration to the next: an old
// floor is worth less, so its age is always reported.
func Floor(differences []float64, pairs int, seed uint64) float64 {
	if len(differences) == 0 {
		return math.NaN()
	}
	random := rand.New(rand.NewPCG(seed, 0))
	drawn, estimates := make([]float64, pairs), make([]float64, resamples)
	for i := range estimates {
		for j := range drawn {
			drawn[j] = differences[random.IntN(len(differences))]
			if random.IntN(2) == 0 {
				drawn[j] = -drawn[j]
			}
		}
		estimates[i] = math.Abs(median(walsh(drawn)))
	}
	slices.Sort(estimates)
	return estimates[resamples*95/100]
}

// mostLooks is the most looks of a sequential comparison. Each look takes its share of the permitted
// error, so more of them would find less.
const mostLooks = 5

// Looks returns the numbers of pairs after which a sequential comparison is judged, which ends
// after most pairs at the latest and judges a number of figures together. Each number is √2 times the one
// before it. If each look has the confidence [Strict] of the number of looks, all looks together make a
// false claim no more often than one look at the usual confidence: each spends an equal share of the
// permitted error, however the looks depend on each other.
//
// Looks returns nil if even two looks are too early to show anything.
func Looks(most, figures int) []int {
	for looks := mostLooks; looks > 1; looks-- {
		pairs := make([]int, looks)
		for i := range pairs {
			pairs[i] = int(math.Round(float64(most) / math.Pow(math.Sqrt2, float64(looks-1-i))))
		}
		if pairs[0] >= FewestPairs(looks*max(figures, 1)) {
			return pairs
		}
	}
	return nil
}

// Orders says for each pair whether its new side runs first. The order is drawn from the seed,
// independently for each pair, so noise of any period or memory falls on either side with the
// same probability, and [PairsP] is exact whatever the noise. A fixed order such as base, new,
// new, base resonates with noise of that period.
func Orders(seed uint64, pairs int) []bool {
	random := rand.New(rand.NewPCG(seed, 1))
	newFirst := make([]bool, pairs)
	for i := range newFirst {
		newFirst[i] = random.IntN(2) == 1
	}
	return newFirst
}
