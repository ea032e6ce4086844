package fit

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// Resamples is how many Bootstrap makes.
const Resamples = 500

// Bootstrap tells how much a statistic of the levels would scatter if everything
// were measured again: the interval of the values that it has on so many
// resamples, drawn from the seed. The values of the levels are positive, those of
// the statistic may be infinite.
//
// Note: with three repetitions a level by itself can be resampled in ten ways,
// and scatters less than the truth. So the relative deviations of the
// repetitions from their level's mean, widened by what the mean has taken from
// them, are drawn from those of all levels. It is false where no level was
// measured twice.
func Bootstrap(levels []Level, seed uint64, statistic func([]Level) float64) (low, high float64, ok bool) {
	deviations := deviations(levels)
	if len(deviations) == 0 {
		return 0, 0, false
	}
	random := rand.New(rand.NewPCG(seed, 0))
	values := make([]float64, Resamples)
	for i := range values {
		values[i] = statistic(resample(levels, deviations, random))
	}
	slices.Sort(values)
	tail := int(math.Floor(Resamples * (1 - Confidence) / 2))
	return values[tail], values[Resamples-1-tail], true
}

// deviations are those of the logarithms.
func deviations(levels []Level) (all []float64) {
	for _, l := range levels {
		n := float64(len(l.Values))
		if n < 2 {
			continue
		}
		mean := meanLog(l.Values)
		for _, v := range l.Values {
			all = append(all, (math.Log(v)-mean)*math.Sqrt(n/(n-1)))
		}
	}
	return all
}

func meanLog(values []float64) float64 { return math.Log(stat.GeometricMean(values, nil)) }

func resample(levels []Level, deviations []float64, random *rand.Rand) []Level {
	drawn := make([]Level, len(levels))
	for i, l := range levels {
		drawn[i] = Level{N: l.N, Values: make([]float64, len(l.Values))}
		mean := meanLog(l.Values)
		for j := range l.Values {
			drawn[i].Values[j] = math.Exp(mean + deviations[random.IntN(len(deviations))])
		}
	}
	return drawn
}
