package stats

import (
	"math"
)

// fewestLevels is the smallest number of levels that Grow accepts: enough for a line, too few
// for a curve with one bend.
const fewestLevels = 3

// A Power is the curve Factor·N^Exponent.
type Power struct {
	Factor   float64
	Exponent Estimate
}

// A Growth is what the interval of an exponent shows of a cost.
type Growth int

// The growths.
const (
	NotKnown Growth = iota // the cost may be constant, and may change
	Flat                   // its exponent is near 0
	Grows                  // it grows, or falls if the exponent is negative
)

// nearZero is the exponent below which a cost counts as flat: it is at most 1.5 times as high with 64 times
// as many clients.
const nearZero = 0.1

// GrowthOf returns what an interval shows: one that includes 0 shows that a cost is flat only if all of it is
// near 0.
func GrowthOf(exponent Estimate) Growth {
	switch {
	case -nearZero < exponent.Low && exponent.High < nearZero:
		return Flat
	case exponent.Low <= 0 && 0 <= exponent.High:
		return NotKnown
	}
	return Grows
}

// Grow fits a power to a cost by regression of the logarithm of the levels' medians on the
// logarithm of N. The exponent's interval is that of the regression, in which the levels are
// the replicates: it includes the differences between levels, and is wide where the cost does
// not follow a power at all. Grow returns false below three levels, and where the cost is 0 at
// one level, which no power fits.
func Grow(levels []Level) (Power, bool) {
	all := medians(levels)
	if len(all) < fewestLevels || len(all) < len(levels) {
		return Power{}, false
	}
	x, y := make([]float64, len(all)), make([]float64, len(all))
	for i, p := range all {
		x[i], y[i] = math.Log(p.N), math.Log(p.Value)
	}
	a, b := Line(x, y)
	margin := slopeMargin(x, y, a, b)
	return Power{
		Factor:   math.Exp(a),
		Exponent: Estimate{Value: b, Low: b - margin, High: b + margin, Confidence: Confidence},
	}, true
}

// slopeMargin returns half the width of the interval of a regression's slope.
func slopeMargin(x, y []float64, a, b float64) float64 {
	mean := Mean(x)
	rest := squares(y, func(i int) float64 { return a + b*x[i] })
	spread := squares(x, func(int) float64 { return mean })
	free := float64(len(x) - 2)
	t := student(free).quantile((1 + Confidence) / 2)
	return t * math.Sqrt(rest/free/spread)
}

// Value returns the curve's value at n.
func (p Power) Value(n float64) float64 { return p.Factor * math.Pow(n, p.Exponent.Value) }

// A Level holds the measurements at one level of an axis, one per repetition.
type Level struct {
	N      float64 // position on the axis, positive
	Values []float64
}

// A Point is one value at a level of an axis.
type Point struct{ N, Value float64 }

// medians returns the medians of those levels that a curve on logarithmic scales can fit. A
// level's deviation is common to all its repetitions, so the level is the replicate: more
// repetitions are no more evidence of the curve between levels.
func medians(levels []Level) (all []Point) {
	for _, l := range levels {
		if m := Median(l.Values).Value; m > 0 {
			all = append(all, Point{l.N, m})
		}
	}
	return all
}

// A Crossing is where a ratio reaches a factor for good.
type Crossing struct {
	At float64 // between two levels by interpolation on logarithmic scales
	// Always says that the ratio is at least the factor from the first level on, so where it
	// reached the factor is unknown.
	Always bool
}

// Cross finds the level from which on the ratio of two forms, given in ascending order of N, is
// at least the factor. It returns false if the ratio is less at the last level.
func Cross(ratios []Point, factor float64) (Crossing, bool) {
	last := len(ratios) - 1
	first := last + 1 // first index from which on the ratio is at least the factor
	for first > 0 && ratios[first-1].Value >= factor {
		first--
	}
	switch {
	case first > last:
		return Crossing{}, false
	case first == 0:
		return Crossing{At: ratios[0].N, Always: true}, true
	}
	below, above := ratios[first-1], ratios[first]
	part := math.Log(factor/below.Value) / math.Log(above.Value/below.Value)
	return Crossing{At: below.N * math.Pow(above.N/below.N, part)}, true
}
