package stats

import (
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// fewestLevels is the smallest number of levels that Grow accepts: enough for a line, too few
// for a curve with one bend.
const fewestLevels = 3

// A Power is the curve Factor·N^Exponent.
type Power struct {
	Factor   float64
	Exponent Estimate
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
	a, b := stat.LinearRegression(x, y, nil, false)
	margin := slopeMargin(x, y, a, b)
	return Power{
		Factor:   math.Exp(a),
		Exponent: Estimate{Value: b, Low: b - margin, High: b + margin, Confidence: Confidence},
	}, true
}

// slopeMargin returns half the width of the interval of a regression's slope.
func slopeMargin(x, y []float64, a, b float64) float64 {
	var squares, spread float64
	mean := stat.Mean(x, nil)
	for i := range x {
		off := y[i] - a - b*x[i]
		squares += off * off
		spread += (x[i] - mean) * (x[i] - mean)
	}
	free := float64(len(x) - 2)
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: free}.Quantile((1 + Confidence) / 2)
	return t * math.Sqrt(squares/free/spread)
}

// Value returns the curve's value at n.
func (p Power) Value(n float64) float64 { return p.Factor * math.Pow(n, p.Exponent.Value) }
