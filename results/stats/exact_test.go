package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The critical values are the largest rank sums of the rarer sign that are significant at 5 %,
// two-sided, as textbooks print them (Wilcoxon 1945 and later).
func TestSignedRanksAgreeWithTables(t *testing.T) {
	for n, critical := range map[int]int{6: 0, 7: 2, 8: 3, 9: 5, 10: 8, 11: 10, 12: 13, 13: 17, 14: 21, 15: 25, 16: 29, 17: 34, 18: 40, 19: 46, 20: 52, 25: 89} {
		chances := sums(signedRank{n}.plainRanks(n)) // at every other index, since ranks are doubled
		for i := range n*(n+1)/2 + 1 {
			chances[i] = chances[2*i]
		}
		wantCritical(t, chances[:n*(n+1)/2+1], critical, n)
		if cut, _ := cut(sums(signedRank{n}.plainRanks(n)), Confidence); cut/2 != critical {
			t.Errorf("%d: up to %d is rejected, want %d", n, cut/2, critical)
		}
	}
}

func wantCritical(t *testing.T, chances []float64, critical int, of any) {
	t.Helper()
	var total, upTo float64
	for i, c := range chances {
		total += c
		if i <= critical {
			upTo += c
		}
	}
	if math.Abs(total-1) > 1e-9 {
		t.Errorf("%v: the chances add up to %v", of, total)
	}
	if 2*upTo > 0.05 || 2*(upTo+chances[critical+1]) <= 0.05 {
		t.Errorf("%v: up to %d it is %v, and %v with the next: want 5 %% between", of, critical, 2*upTo, 2*(upTo+chances[critical+1]))
	}
}

// All 2ⁿ combinations of signs are equally likely: the test tries each of them.
func TestTheTestAgreesWithAllSigns(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for n := 1; n <= 11; n++ {
		for _, coarse := range []float64{0, 1, 3} { // few distinct values cause ties and zeros
			d := make([]float64, n)
			for i := range d {
				d[i] = random.NormFloat64() + 0.5
				if coarse > 0 {
					d[i] = math.Round(d[i]*coarse) / coarse
				}
			}
			for _, most := range []int{n, bound(n)} {
				if got, want := (signedRank{most}).p(slices.Sorted(slices.Values(d)), 0), bySigns(d, most); math.Abs(got-want) > 1e-12 {
					t.Errorf("%v, ranks to %d: %v, want %v", d, most, got, want)
				}
			}
		}
	}
}

// bySigns counts the combinations of signs whose rank sum is at least as far from the middle as
// the observed one, and doubles the rarer side.
func bySigns(d []float64, most int) float64 {
	rank := func(i int) (r float64) {
		for j := range d {
			switch a, b := math.Abs(d[i]), math.Abs(d[j]); {
			case b < a:
				r++
			case b == a:
				r += 0.5
			}
		}
		return min(r+0.5, float64(most))
	}
	var ranks []float64
	var seen float64
	for i := range d {
		if d[i] != 0 {
			ranks = append(ranks, rank(i))
		}
		if d[i] > 0 {
			seen += rank(i)
		}
	}
	var below, above, all float64
	for signs := range 1 << len(ranks) {
		var sum float64
		for i, r := range ranks {
			if signs>>i&1 == 1 {
				sum += r
			}
		}
		all++
		if sum <= seen {
			below++
		}
		if sum >= seen {
			above++
		}
	}
	return min(1, 2*min(below, above)/all)
}

// The interval of the plain test ends at the pairwise means given by the critical value,
// counted from both ends.
func TestPlainIntervalIsOfTheMeans(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 4))
	d := make([]float64, 10)
	for i := range d {
		d[i] = random.NormFloat64()
	}
	e, means := signedRank{10}.estimate(d, Confidence), walsh(d)
	if e.Low != means[8] || e.High != means[len(means)-1-8] {
		t.Errorf("%+v, want %v to %v", e, means[8], means[len(means)-9])
	}
}

// The interval contains the shifts that the test does not reject, found by testing them. The
// estimate is the median of all pairwise means, found by enumeration.
func TestPairsIsTheTestInverted(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	for n := 6; n <= 14; n++ {
		d := make([]float64, n)
		for i := range d {
			d[i] = random.NormFloat64()
		}
		for _, most := range []int{n, bound(n)} {
			e := signedRank{most}.estimate(d, Confidence)
			wantInverted(t, e.Low, e.High, func(shift float64) float64 { return bySigns(less(d, shift), most) })
		}
		var means []float64
		for i := range d {
			for j := range d[:i+1] {
				means = append(means, (d[i]+d[j])/2)
			}
		}
		wantMedian(t, Pairs(d).Interval(Confidence).Value, means)
	}
}

func less(values []float64, shift float64) []float64 {
	shifted := make([]float64, len(values))
	for i, v := range values {
		shifted[i] = v - shift
	}
	return shifted
}

func wantInverted(t *testing.T, low, high float64, p func(float64) float64) {
	t.Helper()
	const near = 1e-9
	for _, c := range []struct {
		shift float64
		kept  bool
	}{{low - near, false}, {low + near, true}, {high - near, true}, {high + near, false}} {
		if got := p(c.shift); (got > 0.05) != c.kept {
			t.Errorf("[%v, %v]: at %v the test says %v, want it kept: %v", low, high, c.shift, got, c.kept)
		}
	}
}

func wantMedian(t *testing.T, got float64, values []float64) {
	t.Helper()
	slices.Sort(values)
	if want := (values[(len(values)-1)/2] + values[len(values)/2]) / 2; math.Abs(got-want) > 1e-12 {
		t.Errorf("estimate %v, want %v", got, want)
	}
}
