package stats

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
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
	return 1 - 2*distuv.Binomial{N: float64(n), P: 0.5}.CDF(float64(cut))
}

// Next returns the probability that the next value is at least 0, predicted from two or more
// values of the same normal distribution, whose mean and scatter are known only from these
// values.
func Next(values []float64) float64 {
	n := float64(len(values))
	mean, scatter := stat.MeanStdDev(values, nil)
	if scatter == 0 {
		if mean >= 0 {
			return 1
		}
		return 0
	}
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.CDF(mean / (scatter * math.Sqrt(1+1/n)))
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
