package stats

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// The distributions and the line are those of gonum's statistics.
func TestDistributionsAreGonums(t *testing.T) {
	same := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-9*max(1, math.Abs(want)) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	for _, free := range []float64{1, 2, 3.7, 9, 10, 58, 100, 1e4} {
		reference := distuv.StudentsT{Sigma: 1, Nu: free}
		for _, x := range []float64{-30, -2, -0.1, 0, 1e-6, 0.5, 3, 40} {
			same("below", student(free).cumulative(x), reference.CDF(x))
		}
		for _, p := range []float64{0.001, 0.025, 0.4, 0.5, 0.6, 0.975, 0.9999} {
			same("quantile", student(free).quantile(p), reference.Quantile(p))
		}
		same("fisher", fisher(free), distuv.F{D1: 1, D2: free}.Quantile(Confidence))
	}
	for _, n := range []int{1, 2, 7, 30} {
		for k := range n {
			same("heads", heads(n, k), distuv.Binomial{N: float64(n), P: 0.5}.CDF(float64(k)))
		}
	}
	x, y := []float64{1, 2, 4, 9}, []float64{3, -1, 8, 2.5}
	a, b := Line(x, y)
	wantA, wantB := stat.LinearRegression(x, y, nil, false)
	same("intercept", a, wantA)
	same("slope", b, wantB)
	same("mean", Mean(y), stat.Mean(y, nil))
}
