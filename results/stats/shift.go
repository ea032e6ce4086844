package stats

import (
	"math"
	"slices"

	"github.com/aclements/go-moremath/stats"
	"gonum.org/v1/gonum/stat/combin"
	"gonum.org/v1/gonum/stat/distuv"
)

// mostExact is the largest number of values for which probabilities are counted exactly:
// float64 still holds the number of ways to divide them as an integer.
const mostExact = 50

// Shift estimates the typical difference of the values of other from those of base. The value
// is the median of all differences. The interval contains the shifts that the Mann–Whitney test
// does not reject. Neither sample may be empty. With fewer than four values each the interval
// is from the smallest to the largest difference, and its confidence is below [Confidence].
func Shift(base, other []float64) Estimate { return ShiftAt(base, other, Confidence) }

// ShiftAt is [Shift] with an interval of another confidence.
func ShiftAt(base, other []float64, wanted float64) Estimate {
	differences := make([]float64, 0, len(base)*len(other))
	for _, a := range base {
		for _, b := range other {
			d := b - a
			if math.IsNaN(d) { // both are infinite with the same sign
				d = 0
			}
			differences = append(differences, d)
		}
	}
	slices.Sort(differences)
	left, confidence := cut(rankSums(len(base), len(other)), wanted)
	left = min(left, (len(differences)-1)/2)
	return Estimate{Value: median(differences), Low: differences[left], High: differences[len(differences)-1-left], Confidence: confidence}
}

// ShiftP returns the probability of samples at least as far apart if there is no difference:
// the two-sided Mann–Whitney test.
func ShiftP(base, other []float64) float64 {
	test, err := stats.MannWhitneyUTest(base, other, stats.LocationDiffers)
	if err != nil { // all values are equal
		return 1
	}
	return test.P
}

// rankSums returns the probability of each value of the Mann–Whitney statistic for samples of m
// and n values without a difference. It counts where that can be exact.
//
// Note: UDist of go-moremath has the same probabilities, but computes one at a time, and each in
// a pass over all of them. The counts below need one pass in all.
func rankSums(m, n int) []float64 {
	if m+n > mostExact {
		return normalSums(m, n)
	}
	// The counts are the coefficients of Π (1−q^(n+i))/(1−q^i) for i from 1 to m.
	counts := make([]float64, m*n+1)
	counts[0] = 1
	for i := 1; i <= m; i++ {
		for u := len(counts) - 1; u >= n+i; u-- {
			counts[u] -= counts[u-n-i]
		}
		for u := i; u < len(counts); u++ {
			counts[u] += counts[u-i]
		}
	}
	ways := float64(combin.Binomial(m+n, m))
	for u := range counts {
		counts[u] /= ways
	}
	return counts
}

// normalSums approximates rankSums for large samples.
func normalSums(m, n int) []float64 {
	a, b := float64(m), float64(n)
	d := distuv.Normal{Mu: a * b / 2, Sigma: math.Sqrt(a * b * (a + b + 1) / 12)}
	chances := make([]float64, m*n+1)
	for u := range chances {
		chances[u] = d.CDF(float64(u)+0.5) - d.CDF(float64(u)-0.5)
	}
	chances[0] += d.CDF(-0.5)
	return chances
}
