package fit

import (
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// fewestLevels are too few for a curve with one bend, and enough for a line.
const fewestLevels = 3

// A Power is the curve Factor·N^Exponent.
type Power struct {
	Factor   float64
	Exponent Estimate
}

// Grow fits a power to a cost, by the regression of the logarithm of the levels'
// medians on that of N. The exponent's interval is the regression's, in which the
// levels are the replicates: it includes what sets levels apart, and is wide where the
// cost does not grow as a power at all. Grow is false below three levels, and where
// the cost is 0 at one of them, which no power is.
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

// slopeMargin is half the interval of a regression's slope.
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

// At is the curve's value at n.
func (p Power) At(n float64) float64 { return p.Factor * math.Pow(n, p.Exponent.Value) }
