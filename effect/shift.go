package effect

import (
	"math"
	"slices"

	"golang.org/x/perf/benchmath"
	"gonum.org/v1/gonum/stat/combin"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/stampede-bench/stampede/fit"
)

// mostExact is up to how many values chances are counted: as many ways as there are
// to part them are still whole numbers to a float64.
const mostExact = 50

// Shift is by how much the values of other typically differ from those of base,
// and its interval: the median of all differences, and those that the Mann–Whitney
// test does not rule out. Neither is empty. With fewer than four each the interval
// is from the least to the greatest, and its confidence less than [fit.Confidence].
func Shift(base, other []float64) fit.Estimate { return ShiftAt(base, other, fit.Confidence) }

// ShiftAt is [Shift] with an interval of another confidence.
func ShiftAt(base, other []float64, wanted float64) fit.Estimate {
	differences := make([]float64, 0, len(base)*len(other))
	for _, a := range base {
		for _, b := range other {
			d := b - a
			if math.IsNaN(d) { // both are as infinite
				d = 0
			}
			differences = append(differences, d)
		}
	}
	slices.Sort(differences)
	left, confidence := cut(rankSums(len(base), len(other)), wanted)
	left = min(left, (len(differences)-1)/2)
	return fit.Estimate{Value: median(differences), Low: differences[left], High: differences[len(differences)-1-left], Confidence: confidence}
}

// ShiftP is the probability of values that lie at least so far apart where there is
// no difference: the Mann–Whitney test, two-sided.
func ShiftP(base, other []float64) float64 {
	t := benchmath.DefaultThresholds
	return benchmath.AssumeNothing.Compare(benchmath.NewSample(slices.Clone(base), &t), benchmath.NewSample(slices.Clone(other), &t)).P
}

// rankSums are the chances of each value of the Mann–Whitney statistic of so many
// and so many, where there is no difference: counted where that can be exact.
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

// normalSums are about the same for many.
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
