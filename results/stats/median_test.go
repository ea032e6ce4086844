package stats_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stampede-bench/stampede/results/stats"
)

// The confidence of order statistics is binomial: the interval from the smallest to the largest
// of n values misses the median with probability 2^(1−n).
func TestMedian(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   stats.Estimate
	}{
		{[]float64{7}, stats.Estimate{Value: 7, Low: 7, High: 7, Confidence: 0}},
		{[]float64{9, 1, 3}, stats.Estimate{Value: 3, Low: 1, High: 9, Confidence: 0.75}},
		{[]float64{1, 2, 3, 4}, stats.Estimate{Value: 2.5, Low: 1, High: 4, Confidence: 0.875}},
		{[]float64{6, 5, 4, 3, 2, 1}, stats.Estimate{Value: 3.5, Low: 1, High: 6, Confidence: 1 - math.Pow(2, -5)}},
		// 1 − 2·(1+9)/2⁹
		{[]float64{1, 2, 3, 4, 5, 6, 7, 8, 9}, stats.Estimate{Value: 5, Low: 2, High: 8, Confidence: 1 - 20./512}},
	} {
		got := stats.Median(c.values)
		if math.Abs(got.Confidence-c.want.Confidence) > 1e-12 {
			t.Errorf("%v: confidence %v, want %v", c.values, got.Confidence, c.want.Confidence)
		}
		got.Confidence = c.want.Confidence
		if got != c.want {
			t.Errorf("%v: %+v, want %+v", c.values, got, c.want)
		}
	}
}

func TestGrow(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	var levels []stats.Level
	for n := 2.0; n <= 256; n *= 2 {
		l := stats.Level{N: n}
		for range 3 {
			l.Values = append(l.Values, 0.8*math.Pow(n, 0.97)*math.Exp(0.02*random.NormFloat64()))
		}
		levels = append(levels, l)
	}
	p, ok := stats.Grow(levels)
	if e := p.Exponent; !ok || e.Low > 0.97 || e.High < 0.97 || e.High-e.Low > 0.04 {
		t.Errorf("%+v, want an exponent of 0.97 and a narrow interval", p)
	}
	near(t, "the factor", p.Factor, 0.8, 0.05)
	if _, ok := stats.Grow(levels[:2]); ok {
		t.Error("a growth from two levels")
	}
	levels[3].Values = []float64{0, 0, 1}
	if _, ok := stats.Grow(levels); ok {
		t.Error("a power that is 0 somewhere")
	}
}

// A linear cost with an offset follows no power: the interval shows that.
func TestGrowthOfNoPowerIsUnsure(t *testing.T) {
	var levels []stats.Level
	for n := 2.0; n <= 256; n *= 2 {
		levels = append(levels, stats.Level{N: n, Values: []float64{30 + n}})
	}
	p, ok := stats.Grow(levels)
	if !ok || p.Exponent.High-p.Exponent.Low < 0.2 {
		t.Errorf("%+v, %v: want a wide interval", p, ok)
	}
}

func TestCross(t *testing.T) {
	at := func(ratios ...float64) (points []stats.Point) {
		for i, r := range ratios {
			points = append(points, stats.Point{N: math.Pow(2, float64(i+1)), Value: r})
		}
		return points
	}
	for _, c := range []struct {
		name   string
		ratios []stats.Point
		want   stats.Crossing
		ok     bool
	}{
		{"between two levels, half way on logarithmic scales", at(1, 1, 4, 8), stats.Crossing{At: math.Sqrt(32)}, true},
		{"at a level", at(1, 2, 3), stats.Crossing{At: 4}, true},
		{"the last time only", at(1, 3, 1, 3, 9), stats.Crossing{At: 8 * math.Pow(2, math.Log(2)/math.Log(3))}, true},
		{"from the first on", at(2, 3), stats.Crossing{At: 2, Always: true}, true},
		{"not any more", at(3, 5, 1.9), stats.Crossing{}, false},
		{"never", at(1, 1), stats.Crossing{}, false},
		{"nothing measured", nil, stats.Crossing{}, false},
	} {
		got, ok := stats.Cross(c.ratios, 2)
		if ok != c.ok || got.Always != c.want.Always || math.Abs(got.At-c.want.At) > 1e-9 {
			t.Errorf("%s: %+v, %v; want %+v, %v", c.name, got, ok, c.want, c.ok)
		}
	}
}
