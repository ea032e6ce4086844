package stats

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"
)

// byDivisions counts the divisions of the values into sides of these sizes whose differences are at least as one-sided as
// those of the given one, and doubles the rarer direction.
func byDivisions(values []float64, other []bool) float64 {
	n, of := len(values), uint(0)
	for i, is := range other {
		if is {
			of |= 1 << i
		}
	}
	above := func(division uint) (sum float64) {
		for i := range n {
			for j := range n {
				switch {
				case division>>i&1 == 0 || division>>j&1 == 1:
				case values[i] > values[j]:
					sum++
				case values[i] == values[j]:
					sum += 0.5
				}
			}
		}
		return sum
	}
	seen := above(of)
	var all, low, high float64
	for division := range uint(1) << n {
		if bits.OnesCount(division) != bits.OnesCount(of) {
			continue
		}
		all++
		if s := above(division); s <= seen {
			low++
		}
		if s := above(division); s >= seen {
			high++
		}
	}
	return min(1, 2*min(low, high)/all)
}

// TestRankSumAgreesWithAllDivisions checks the p-value against all divisions of the values. Of values with ties, it is
// never less.
func TestRankSumAgreesWithAllDivisions(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 5))
	for _, sizes := range [][2]int{{1, 1}, {2, 3}, {5, 5}, {3, 8}, {7, 4}} {
		for _, levels := range []float64{0, 2, 4} {
			for range 6 {
				values, other := make([]float64, sizes[0]+sizes[1]), make([]bool, sizes[0]+sizes[1])
				for i := range values {
					values[i], other[i] = random.NormFloat64(), i >= sizes[0]
					if other[i] {
						values[i]++
					}
					if levels > 0 {
						values[i] = math.Round(values[i] * levels / 4)
					}
				}
				got, want := NewRankSum(values, other).P(0), byDivisions(values, other)
				if levels == 0 && math.Abs(got-want) > 1e-12 || got < want-1e-12 {
					t.Errorf("%v, %d of the first side: %v, want %v", values, sizes[0], got, want)
				}
			}
		}
	}
}

// TestRankSumIntervalIsTheTestInverted checks that the interval has the shifts that the test does not reject.
func TestRankSumIntervalIsTheTestInverted(t *testing.T) {
	random := rand.New(rand.NewPCG(6, 6))
	values, other := make([]float64, 17), make([]bool, 17)
	for i := range values {
		values[i], other[i] = random.NormFloat64(), i%2 == 1
	}
	r := NewRankSum(values, other)
	low, high, reached := r.interval(Confidence)
	wantInverted(t, low, high, func(shift float64) float64 { return r.P(-shift) })
	if reached < Confidence || reached > 0.97 {
		t.Errorf("confidence %v", reached)
	}
	if low, high, reached := NewRankSum(values[:4], other[:4]).interval(Confidence); reached > 0.7 || low >= high {
		t.Errorf("of two and two values from %v to %v, confidence %v", low, high, reached)
	}
}

// TestManyInversionsAreNormal checks that the exact distribution goes over into the normal one.
func TestManyInversionsAreNormal(t *testing.T) {
	exact, normal := inversions(100, 100), inversions(100, 101)
	for _, sd := range []float64{0.5, 2, 3} {
		at := func(n int, p []float64) float64 {
			return p[int(float64(100*n)/2-sd*math.Sqrt(float64(100*n*(101+n))/12))]
		}
		if a, b := at(100, exact), at(101, normal); math.Abs(a/b-1) > 0.05 {
			t.Errorf("%v standard deviations below: %v and %v", sd, a, b)
		}
	}
}

// TestFewestRuns checks that so many runs of two sides that do not overlap are unlikely enough, and that one less is not.
func TestFewestRuns(t *testing.T) {
	for figures, want := range map[int]int{0: 5, 1: 5, 6: 5, 7: 6, 23: 6, 24: 7, 300: 8} {
		if got := FewestRuns(figures); got != want {
			t.Errorf("%d figures: %d runs, want %d", figures, got, want)
		}
	}
	if !Enough(5, 20, 100) || Enough(4, 100, 1) || Enough(5, 5, 7) {
		t.Error("five and twenty runs, four and a hundred, or five and five of seven figures")
	}
}

// TestSecondLevelIsNoOutlier checks that values on two levels are not moved to one of them, and that the test in which they were
// does not find the difference that chance made.
func TestSecondLevelIsNoOutlier(t *testing.T) {
	const fast, slow = 0, 0.7
	values := []float64{fast, fast, slow, fast, fast, slow, slow, fast, slow, slow}
	other := make([]bool, 10)
	for i := range values {
		values[i], other[i] = values[i]+0.01*float64(i%3), i >= 5
	}
	for i, v := range Clip(values, other) {
		if v != values[i] {
			t.Errorf("value %d became %v", i, v)
		}
	}
	c := NewContrast(values, other)
	if e := c.Interval(Confidence); c.P(0) < 0.2 || e.Low > -0.1 || e.High < 0.7 {
		t.Errorf("p %v, %+v", c.P(0), e)
	}
	if p := NewModels(values, other).P(0); p < 0.1 {
		t.Errorf("p %v by the models", p)
	}
}

// TestRedrawnNoiseHasItsLevels checks that what a simulation draws from values on two levels lies on two levels.
func TestRedrawnNoiseHasItsLevels(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	values, other := make([]float64, 40), make([]bool, 40)
	for i := range values {
		values[i], other[i] = 0.01*random.NormFloat64(), i >= 20
		if i%4 == 0 {
			values[i] += 0.7
		}
	}
	m, between, high := NewModels(values, other), 0, 0
	for range 50 {
		for _, v := range m.redraw(random, 1) {
			if v > 0.35 {
				high++
			} else if v > 0 {
				between++
			}
		}
	}
	if share := float64(high) / 2000; share < 0.2 || share > 0.3 || between > 100 {
		t.Errorf("%v of the values on the upper level, %d between", share, between)
	}
}
