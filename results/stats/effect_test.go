package stats_test

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/stampede-bench/stampede/results/stats"
)

func TestFewPairsAreSaidToBeFew(t *testing.T) {
	for n, confidence := range map[int]float64{1: 0, 2: 0.5, 5: 1 - 2./32, 6: 1 - 2./64} {
		d := make(stats.Pairs, n)
		for i := range d {
			d[i] = float64(i + 1)
		}
		e := d.Interval(stats.Confidence)
		if e.Low != 1 || e.High != float64(n) || e.Confidence != confidence {
			t.Errorf("%d pairs: %+v, want from 1 to %d with %v", n, e, n, confidence)
		}
	}
}

// A count that is 0 on one side only differs infinitely.
func TestInfiniteDifferences(t *testing.T) {
	inf := math.Inf(1)
	all := stats.Pairs{inf, inf, inf, inf, inf, inf}
	if e, p := all.Interval(stats.Confidence), all.P(0); e.Low != inf || e.High != inf || p != 2./64 {
		t.Errorf("%+v, %v", e, p)
	}
	both := stats.Pairs{inf, -inf, inf, -inf, inf, -inf}
	if e := both.Interval(stats.Confidence); e.Value != 0 || e.Low != -inf || e.High != inf {
		t.Errorf("%+v", e)
	}
	if e := stats.NewContrast(slices.Repeat([]float64{-inf}, 16), halves(16)).Interval(stats.Confidence); e.Value != 0 {
		t.Errorf("%+v", e)
	}
	c := stats.NewContrast(slices.Concat(slices.Repeat([]float64{-inf}, 8), make([]float64, 8)), halves(16))
	if e := c.Interval(stats.Confidence); e.Value != inf || e.Low != inf || c.P(0) > 1e-3 {
		t.Errorf("%+v, %v", e, c.P(0))
	}
}

func TestNothingDiffers(t *testing.T) {
	none := make(stats.Pairs, 10)
	if e, p := none.Interval(stats.Confidence), none.P(0); e.Value != 0 || e.Low != 0 || e.High != 0 || p != 1 {
		t.Errorf("%+v, %v", e, p)
	}
	if p := stats.NewContrast(none, []bool{1: true, 2: true, 3: true, 9: true}).P(0); math.Abs(p-1) > 1e-6 {
		t.Errorf("%v", p)
	}
}

func TestHolm(t *testing.T) {
	near := cmpopts.EquateApprox(0, 1e-12)
	for _, c := range []struct{ p, want []float64 }{
		{nil, []float64{}},
		{[]float64{0.04}, []float64{0.04}},
		{[]float64{0.04, 0.01, 0.03}, []float64{0.06, 0.03, 0.06}},
		{[]float64{0.5, 0.6, 0.001}, []float64{1, 1, 0.003}},
	} {
		if diff := cmp.Diff(c.want, stats.Holm(c.p), near); diff != "" {
			t.Errorf("%v: %s", c.p, diff)
		}
	}
}

func TestFewestPairs(t *testing.T) {
	for figures, want := range map[int]int{0: 6, 1: 6, 2: 7, 3: 7, 4: 8, 25: 10, 26: 11} {
		if got := stats.FewestPairs(figures); got != want {
			t.Errorf("%d figures: %d pairs, want %d", figures, got, want)
		}
	}
}

func TestDecide(t *testing.T) {
	const minimum = 0.05
	for _, c := range []struct {
		name             string
		value, low, high float64
		p                float64
		want             stats.Decision
	}{
		{"worse", 0.08, 0.02, 0.15, 0.01, stats.Regression},
		{"as much worse as matters", 0.05, 0.02, 0.15, 0.01, stats.Regression},
		{"worse, but by too little to matter", 0.02, 0.01, 0.04, 0.01, stats.Pass},
		{"worse, perhaps by too little to matter", 0.04, 0.01, 0.08, 0.01, stats.Inconclusive},
		{"worse, were it the only figure", 0.08, 0.02, 0.15, 0.06, stats.Inconclusive},
		{"perhaps worse", 0.04, -0.02, 0.08, 0.3, stats.Inconclusive},
		{"no worse", 0, -0.04, 0.04, 1, stats.Pass},
		{"perhaps better, and no worse", -0.1, -0.3, 0.04, 0.2, stats.Pass},
		{"better", -0.1, -0.3, -0.04, 0.01, stats.Improvement},
		{"unknown", -0.1, -0.3, 0.4, 0.5, stats.Inconclusive},
		{"better, were it the only figure", -0.1, -0.3, -0.01, 0.06, stats.Pass},
	} {
		e := stats.Estimate{Value: c.value, Low: c.low, High: c.high, Confidence: 0.95}
		if got := stats.Decide(e, c.p, stats.Limits{Minimum: minimum}); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	few := stats.Estimate{Value: 3, Low: 2, High: 4, Confidence: 0.94}
	if got := stats.Decide(few, 0, stats.Limits{Minimum: minimum}); got != stats.Inconclusive {
		t.Errorf("of too few pairs: %v", got)
	}
}

// A floor can prevent a claim, but never turns a result into a pass.
func TestNoiseFloorNeverGrantsAPass(t *testing.T) {
	for _, c := range []struct {
		name             string
		value, low, high float64
		want             stats.Decision
	}{
		{"worse, within the floor", 0.08, 0.02, 0.12, stats.Inconclusive},
		{"worse, beyond the floor", 0.25, 0.1, 0.4, stats.Regression},
		{"unknown, within the floor", 0.01, -0.1, 0.12, stats.Inconclusive},
		{"worse by too little to matter", 0.02, 0.01, 0.04, stats.Pass},
		{"better, within the floor", -0.1, -0.15, -0.04, stats.Pass},
		{"better, beyond the floor", -0.3, -0.4, -0.2, stats.Improvement},
	} {
		e := stats.Estimate{Value: c.value, Low: c.low, High: c.high, Confidence: 0.95}
		if got := stats.Decide(e, 0.01, stats.Limits{Minimum: 0.05, Floor: 0.2}); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// The order depends on the seed, and each pair's order is independent.
func TestOrdersAreDrawn(t *testing.T) {
	first := stats.Orders(1, 1000)
	if !slices.Equal(first, stats.Orders(1, 1000)) || slices.Equal(first, stats.Orders(2, 1000)) {
		t.Error("the order is not that of the seed")
	}
	news, changes := 0, 0
	for i, newFirst := range first {
		if newFirst {
			news++
		}
		if i > 0 && newFirst != first[i-1] {
			changes++
		}
	}
	if news < 450 || news > 550 || changes < 450 || changes > 550 {
		t.Errorf("the new side is first in %d of 1000 pairs, and the order changes %d times", news, changes)
	}
}

// More pairs are more precise, so their floor is lower. A machine without noise has a floor of
// 0.
func TestFloor(t *testing.T) {
	noisy := []float64{-0.2, -0.1, -0.05, 0.02, 0.03, 0.08, 0.15, 0.21, -0.12, 0.01}
	few, many := stats.Floor(noisy, 6, 1), stats.Floor(noisy, 40, 1)
	if !(0 < many && many < few && few < 0.2) {
		t.Errorf("%v of 6 pairs, %v of 40", few, many)
	}
	if again := stats.Floor(noisy, 6, 1); again != few {
		t.Errorf("%v and %v from one seed", few, again)
	}
	if calm := stats.Floor(make([]float64, 20), 10, 1); calm != 0 {
		t.Errorf("%v without noise", calm)
	}
}
