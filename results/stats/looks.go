package stats

import "math"

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
