package stats

import (
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

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
