package stats

import (
	"math"
	"math/rand/v2"
	"slices"
)

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
