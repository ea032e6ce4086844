package effect

import (
	"math"
	"math/rand/v2"
	"slices"
)

// resamples is how many Floor makes: enough that the 95th percentile has fifty
// beyond it.
const resamples = 1000

// Floor is how large a difference so many pairs show where there is none: the 95th
// percentile of the magnitude of the [Pairs] estimate, over pairs drawn from those
// of two sides that were the same, with either sign. Nothing is known of none.
//
// Note: it is that of the estimate, not of single pairs. A single pair scatters
// as much however many there are, so its percentile would hide a change that
// twenty pairs show beyond doubt, and one of a few pairs would still be let
// through by noise that a percentile of the estimate keeps out. The signs are
// drawn since which side of two that are the same comes first is nobody's choice.
// What it does not see is a drift between one calibration and another: a floor
// that is old is worth less, so its age is always said.
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
