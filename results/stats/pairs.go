package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"sync"
)

// far stands for an infinite difference: one between something and nothing. It is far beyond
// the logarithm of any measured number, and arithmetic with it stays finite.
const far = 1e6

// Pairs are the differences within pairs of runs.
type Pairs []float64

// Interval estimates the typical difference of at least one pair. The value is the Hodges–Lehmann
// estimate: the median of the means of any two differences, each also paired with itself. The interval
// contains the differences that the test of [Pairs.P] does not reject. With fewer than six pairs a 95 %
// interval is from the smallest to the largest difference, and its confidence is below that.
func (d Pairs) Interval(confidence float64) Estimate {
	return signedRank{bound(len(d))}.estimate(d, confidence)
}

// P returns the probability of differences at least as one-sided as these, after the given size has been
// added to each, if there is no effect. It is the two-sided signed-rank test with bounded ranks, exact also
// with ties. Equal differences share their ranks. Differences of zero get ranks but no sign (Pratt's
// method). If they were dropped first (Wilcoxon's method), one more pair without a difference could make
// the others more significant.
func (d Pairs) P(added float64) float64 {
	sorted := d
	if !slices.IsSorted(d) {
		sorted = slices.Clone(d)
		slices.Sort(sorted)
	}
	return signedRank{bound(len(d))}.p(sorted, -added)
}

// mostRedrawn is the largest number of pairs that Redraw draws. The time that an estimate takes grows with
// the square of their number.
const mostRedrawn = 60

// Redraw draws as many pairs from the deviations of these from their estimate, with random signs, since
// the order within a pair is random too. Many pairs are replaced by fewer with as much less scatter.
func (d Pairs) Redraw(random *rand.Rand, estimate, sign float64) Sample {
	n := float64(len(d))
	drawn := make(Pairs, min(len(d), mostRedrawn))
	// The deviations from an estimate are smaller than those from the truth.
	scale := sign * math.Sqrt(n/max(n-1, 1)*float64(len(drawn))/n)
	for i := range drawn {
		// A deviation that is drawn twice, once with each sign, must not cancel exactly.
		drawn[i] = (d[random.IntN(len(d))] - estimate) * scale * (1 + random.NormFloat64()/10)
		if random.IntN(2) == 0 {
			drawn[i] = -drawn[i]
		}
	}
	return drawn
}

// First returns the first part of the pairs, sorted, since a simulation tests them many times.
func (d Pairs) First(share float64) Sample {
	first := slices.Clone(d[:int(math.Round(share*float64(len(d))))])
	slices.Sort(first)
	return first
}

// bound returns the greatest rank that one of n differences can have.
//
// Note: the plain signed-rank test, without a bound, is not used. Its greatest rank alone
// outweighs the evidence against it from ten pairs, so one pair disturbed in the wrong
// direction hides all the others. With one disturbed run of twelve it finds even a change
// without any other noise in at most half of the trials. With half of the number of pairs as
// the bound the test is still exact, since either sign is equally likely whatever the ranks,
// and it finds more.
func bound(n int) int { return (n + 1) / 2 }

// A signedRank is the signed-rank test with ranks up to most.
type signedRank struct{ most int }

// estimate returns the median of the pairwise means, and the interval of shifts that the test
// does not reject.
func (t signedRank) estimate(differences []float64, wanted float64) Estimate {
	d := make([]float64, len(differences))
	for i, v := range differences {
		d[i] = min(max(v, -far), far)
	}
	slices.Sort(d)
	means := walsh(d)
	value := median(means)
	cut, confidence := cut(sums(t.plainRanks(len(d))), wanted)
	low := t.least(d, means, cut)
	high := -t.least(negated(d), negated(means), cut)
	return Estimate{Value: infinite(value), Low: infinite(low), High: infinite(high), Confidence: confidence}
}

// negated returns the values with opposite signs, in ascending order.
func negated(sorted []float64) []float64 {
	other := make([]float64, len(sorted))
	for i, v := range sorted {
		other[len(sorted)-1-i] = -v
	}
	return other
}

// infinite returns ±∞ for a mean that contains far, else v.
func infinite(v float64) float64 {
	if math.Abs(v) > far/1000 {
		return math.Inf(int(math.Copysign(1, v)))
	}
	return v
}

// plainRanks returns the doubled ranks of n different magnitudes.
func (t signedRank) plainRanks(n int) []int {
	ranks := make([]int, n)
	for i := range ranks {
		ranks[i] = 2 * min(i+1, t.most)
	}
	return ranks
}

// cut returns the last index up to which values may be rejected on either side for the wanted
// confidence, and the confidence that results. The first value is always rejected.
func cut(chances []float64, wanted float64) (place int, confidence float64) {
	beyond := chances[0]
	for place < (len(chances)-1)/2 && 1-2*(beyond+chances[place+1]) >= wanted {
		place++
		beyond += chances[place]
	}
	return place, max(0, 1-2*beyond)
}

// least returns the smallest shift that the test does not reject, of sorted differences. The sum of the ranks above a
// shift changes only at the means, and falls as the shift rises.
func (t signedRank) least(sorted, means []float64, cut int) float64 {
	means = slices.Compact(slices.Clone(means))
	total := 0
	for _, r := range t.plainRanks(len(sorted)) {
		total += r
	}
	at := sort.Search(len(means)-1, func(i int) bool {
		sum, _ := t.positive(sorted, means[i]/2+means[i+1]/2)
		return sum < total-cut
	})
	return means[at]
}

// walsh returns the means of any two of the values, each also paired with itself, in ascending
// order.
func walsh(values []float64) []float64 {
	means := make([]float64, 0, len(values)*(len(values)+1)/2)
	for i, a := range values {
		for _, b := range values[:i+1] {
			means = append(means, a/2+b/2)
		}
	}
	slices.Sort(means)
	return means
}

// median returns the median of sorted values.
func median(sorted []float64) float64 {
	last := len(sorted) - 1
	return sorted[last/2]/2 + sorted[(last+1)/2]/2
}

// sums returns the probability of each sum of the weights if each weight is included with
// probability ½.
func sums(weights []int) []float64 {
	total, odd := 0, 0
	for _, w := range weights {
		total, odd = total+w, odd|w&1
	}
	// Without ties all weights are even: odd sums do not occur.
	step := 2 - odd
	chances, reached := make([]float64, total+1), 0
	chances[0] = 1
	for _, w := range weights {
		reached += w
		for sum := reached; sum >= w; sum -= step {
			chances[sum] = (chances[sum] + chances[sum-w]) / 2
		}
		for sum := 0; sum < min(w, reached); sum += step {
			chances[sum] /= 2
		}
	}
	return chances
}

// untied has, for each number of pairs up to mostRedrawn, how probable the sums of their ranks are if no two differences are equal
// and none is 0: at an index, that the sum is at most the index, doubled as ranks are.
var untied = sync.OnceValue(func() (all [mostRedrawn + 1][]float64) {
	for n := range all {
		all[n] = sums(signedRank{bound(n)}.plainRanks(n))
		for sum := 1; sum < len(all[n]); sum++ {
			all[n][sum] += all[n][sum-1]
		}
	}
	return all
})

// p returns the probability of a sum of ranks at least as far from the middle, of sorted differences from the shift.
func (t signedRank) p(sorted []float64, shift float64) float64 {
	sum, tied := t.positive(sorted, shift)
	if n := len(sorted); !tied && n <= mostRedrawn && t.most == bound(n) {
		atMost := untied()[n]
		return min(1, 2*atMost[min(sum, len(atMost)-1-sum)])
	}
	var ranks []int
	t.walk(sorted, shift, func(positive, negative, rank int) {
		for range positive + negative {
			ranks = append(ranks, rank)
		}
	})
	var below, above float64
	for s, c := range sums(ranks) {
		if s <= sum {
			below += c
		}
		if s >= sum {
			above += c
		}
	}
	return min(1, 2*min(below, above))
}

// positive returns the doubled sum of the ranks of the positive differences from the shift, and whether some differences
// are equal or 0.
func (t signedRank) positive(sorted []float64, shift float64) (sum int, tied bool) {
	n := 0
	t.walk(sorted, shift, func(positive, negative, rank int) {
		sum, n, tied = sum+positive*rank, n+1, tied || positive+negative > 1
	})
	return sum, tied || n < len(sorted)
}

// walk calls visit with the numbers of positive and negative differences of each magnitude but 0, from the least on, and with
// their doubled rank. The differences are those of sorted values from the shift.
func (t signedRank) walk(sorted []float64, shift float64, visit func(positive, negative, rank int)) {
	up := sort.SearchFloat64s(sorted, shift)
	down := up - 1
	for ranked := 0; ranked < len(sorted); {
		size := math.Inf(1)
		if up < len(sorted) {
			size = sorted[up] - shift
		}
		if down >= 0 {
			size = min(size, shift-sorted[down])
		}
		positive, negative := 0, 0
		for ; up < len(sorted) && sorted[up]-shift == size; up++ {
			positive++
		}
		for ; down >= 0 && shift-sorted[down] == size; down-- {
			negative++
		}
		rank := min(2*ranked+1+positive+negative, 2*t.most)
		if ranked += positive + negative; size != 0 {
			visit(positive, negative, rank)
		}
	}
}
