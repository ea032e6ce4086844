package stats

import (
	"math"
	"slices"
	"sort"
)

// A RankSum is the rank-sum test of Wilcoxon, Mann and Whitney on values of two sides. It permutes: if the sides do not
// differ, and no value depends on those before it, any division of the values into two sides is as probable as any
// other. So the test is exact whatever the distribution of the values, also if they lie on two levels, and its interval,
// of the shifts that it does not reject, is too (Lehmann, Nonparametrics, 1975, chapters 1 and 2). It knows no scale that
// a second level could distort. It knows no memory either.
type RankSum struct {
	differences []float64 // of each value of the other side from each of the first, in ascending order
	atMost      []float64 // by k, up to half of the differences: the probability that at most k of them are negative
}

// NewRankSum returns the test of values of which some are of the other side. Each side must have a value.
func NewRankSum(values []float64, other []bool) RankSum {
	var sides [2][]float64
	for i, v := range values {
		sides[side(other[i])] = append(sides[side(other[i])], min(max(v, -far), far))
	}
	r := RankSum{make([]float64, 0, len(sides[0])*len(sides[1])), inversions(len(sides[0]), len(sides[1]))}
	for _, b := range sides[1] {
		for _, a := range sides[0] {
			r.differences = append(r.differences, b-a)
		}
	}
	slices.Sort(r.differences)
	return r
}

// mostExact is the number of pairs of values from which on the distribution is taken to be normal. The coefficients of
// larger ones take long, and exceed the greatest number at last.
const mostExact = 10_000

// inversions returns, by k up to half of a·b, the probability that at most k of the pairs of a first and b other values
// are in one given order, if all orders of the values are equally probable. How many orders have k such pairs is
// the coefficient of qᵏ in the Gaussian binomial (1−qᵃ⁺¹)…(1−qᵃ⁺ᵇ) / (1−q)…(1−qᵇ).
func inversions(a, b int) []float64 {
	p := make([]float64, a*b/2+1)
	if a*b > mostExact {
		middle, sd := float64(a*b)/2, math.Sqrt(float64(a*b)*float64(a+b+1)/12)
		for k := range p {
			p[k] = math.Erfc((middle-float64(k)-0.5)/sd/math.Sqrt2) / 2
		}
		return p
	}
	p[0] = 1
	orders := 1.0
	for i := 1; i <= b; i++ {
		orders *= float64(a+i) / float64(i)
		for k := len(p) - 1; k >= a+i; k-- {
			p[k] -= p[k-a-i]
		}
		for k := i; k < len(p); k++ {
			p[k] += p[k-i]
		}
	}
	sum := 0.0
	for k, n := range p {
		sum += n
		p[k] = sum / orders
	}
	return p
}

// P returns the two-sided probability of a difference at least as large, after the given size has been added to it, if
// there is none. Values of both sides that are equal then count against a difference, so that ties never make it
// reject more often.
func (r RankSum) P(added float64) float64 {
	n := len(r.differences)
	negative := sort.SearchFloat64s(r.differences, -added)
	positive := n - sort.Search(n, func(i int) bool { return r.differences[i] > -added })
	against := n - max(negative, positive)
	if against >= len(r.atMost) {
		return 1
	}
	return min(1, 2*r.atMost[against])
}

// interval returns the shifts that the test does not reject, and the confidence that they reach.
func (r RankSum) interval(confidence float64) (low, high, reached float64) {
	cut := 0
	for cut+1 < len(r.atMost) && 1-2*r.atMost[cut+1] >= confidence {
		cut++
	}
	return r.differences[cut], r.differences[len(r.differences)-1-cut], max(0, 1-2*r.atMost[cut])
}
