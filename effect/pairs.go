package effect

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/stampede-bench/stampede/fit"
)

// far stands for infinite differences, which are those of something and nothing: no
// logarithm of a number that was measured comes near, and it can be reckoned with.
const far = 1e6

// Pairs is the typical difference of pairs, of which there is at least one, and
// its interval: the Hodges–Lehmann estimate, which is the median of the means of
// all two of them, each with itself included, and those that the test of [PairsP]
// does not rule out. Below six pairs the interval is from the least to the
// greatest, and its confidence less than [fit.Confidence].
func Pairs(differences []float64) fit.Estimate { return PairsAt(differences, fit.Confidence) }

// PairsAt is [Pairs] with an interval of another confidence.
func PairsAt(differences []float64, confidence float64) fit.Estimate {
	return signedRank{bound(len(differences))}.estimate(differences, confidence)
}

// PairsP is the probability of differences at least as lopsided as these where
// there is none: the signed-rank test, two-sided and exact, with ties too.
// Differences that are the same share their ranks; those of nothing have ranks
// and no sign, which is Pratt's way: dropped beforehand, as Wilcoxon has it, a pair
// more without a difference could make the others prove more.
func PairsP(differences []float64) float64 {
	return signedRank{bound(len(differences))}.p(differences)
}

// bound is the greatest rank that one of n differences can have.
//
// Note: the plain signed-rank test, which has no bound, is not used. Its greatest
// rank alone outweighs what ten pairs may have against them, so one pair disturbed
// in the wrong direction silences all the others: with one run of twelve disturbed
// not even a change without any other noise is found more often than in half of
// the trials. Half of the pairs as the bound leaves the test exact, since whatever
// the ranks are either sign is as likely, and finds more.
func bound(n int) int { return (n + 1) / 2 }

// A signedRank is the signed-rank test with ranks up to most.
type signedRank struct{ most int }

// estimate is the median of the means of two, and the shifts between which the test
// does not reject.
func (t signedRank) estimate(differences []float64, wanted float64) fit.Estimate {
	d := make([]float64, len(differences))
	for i, v := range differences {
		d[i] = min(max(v, -far), far)
	}
	means := walsh(d)
	value := median(means)
	cut, confidence := cut(sums(t.plainRanks(len(d))), wanted)
	low := t.least(d, means, cut)
	for i := range d {
		d[i] = -d[i]
	}
	high := -t.least(d, negated(means), cut)
	return fit.Estimate{Value: infinite(value), Low: infinite(low), High: infinite(high), Confidence: confidence}
}

// negated are the values with the other sign, in rising order too.
func negated(sorted []float64) []float64 {
	other := make([]float64, len(sorted))
	for i, v := range sorted {
		other[len(sorted)-1-i] = -v
	}
	return other
}

// infinite is what a mean with something far in it stands for.
func infinite(v float64) float64 {
	if math.Abs(v) > far/1000 {
		return math.Inf(int(math.Copysign(1, v)))
	}
	return v
}

// plainRanks are those of n differences of which no two are the same, doubled.
func (t signedRank) plainRanks(n int) []int {
	ranks := make([]int, n)
	for i := range ranks {
		ranks[i] = 2 * min(i+1, t.most)
	}
	return ranks
}

// cut is the last place up to which chances may be rejected on either side for the
// confidence that is wanted, and the confidence then. The first is always rejected.
func cut(chances []float64, wanted float64) (place int, confidence float64) {
	beyond := chances[0]
	for place < (len(chances)-1)/2 && 1-2*(beyond+chances[place+1]) >= wanted {
		place++
		beyond += chances[place]
	}
	return place, max(0, 1-2*beyond)
}

// least is the least shift that the test does not reject: the sum of the ranks of
// those above it changes at the means only, and falls as it rises.
func (t signedRank) least(d, means []float64, cut int) float64 {
	means = slices.Compact(slices.Clone(means))
	total := 0
	for _, r := range t.plainRanks(len(d)) {
		total += r
	}
	shifted := make([]float64, len(d))
	at := sort.Search(len(means)-1, func(i int) bool {
		between := means[i]/2 + means[i+1]/2
		for j, v := range d {
			shifted[j] = v - between
		}
		sum, _ := t.positive(shifted)
		return sum < total-cut
	})
	return means[at]
}

// walsh are the means of all two of the values, each with itself included, in
// rising order.
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

// median is that of what is sorted.
func median(sorted []float64) float64 {
	last := len(sorted) - 1
	return sorted[last/2]/2 + sorted[(last+1)/2]/2
}

// sums are the chances of each sum of the weights, if each is in it or not.
func sums(weights []int) []float64 {
	chances := []float64{1}
	for _, w := range weights {
		next := make([]float64, len(chances)+w)
		for sum, c := range chances {
			next[sum] += c / 2
			next[sum+w] += c / 2
		}
		chances = next
	}
	return chances
}

// p is the probability of a sum of ranks as far from the middle.
func (t signedRank) p(differences []float64) float64 {
	sum, ranks := t.positive(differences)
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

// positive is the sum of the ranks of those that are positive, and the ranks of all
// that have a sign, doubled.
func (t signedRank) positive(differences []float64) (sum int, signed []int) {
	for i, r := range doubleRanks(differences) {
		r = min(r, 2*t.most)
		if differences[i] > 0 {
			sum += r
		}
		if differences[i] != 0 {
			signed = append(signed, r)
		}
	}
	return sum, signed
}

// doubleRanks are twice the ranks of the magnitudes.
func doubleRanks(values []float64) []int {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(math.Abs(values[i]), math.Abs(values[j])) })
	ranks := make([]int, len(values))
	for from := 0; from < len(order); {
		to := from
		for to < len(order) && math.Abs(values[order[to]]) == math.Abs(values[order[from]]) {
			to++
		}
		for _, i := range order[from:to] {
			ranks[i] = from + 1 + to
		}
		from = to
	}
	return ranks
}
