package stats

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// A Peak is the N at which throughput is greatest, with its interval.
type Peak struct {
	Estimate
	// Shown says that throughput was measured to fall beyond the peak. Otherwise a curve that
	// only saturates fits the levels as well, or nearly as well.
	Shown bool
}

// Peak returns the peak of the law that was fitted to the levels. Its interval contains the
// peaks of all laws that fit the levels nearly as well: their sum of squares may exceed the
// smallest one by as much as [Confidence] allows, by the F-test. The replicates are the levels,
// so the interval includes the differences between levels and the lack of fit. High is infinite
// where laws without a peak fit.
func (u USL) Peak(levels []Level) Peak {
	p := profile{medians(levels)}
	at := u.Knee()
	free := float64(len(p.points) - parameters)
	least := min(p.leastSquares(at), p.leastSquares(math.Inf(1)))
	bound := least * (1 + fisher(free)/free)
	e := Peak{Estimate: Estimate{Value: at, Low: 1, High: math.Inf(1), Confidence: Confidence}}
	if math.IsInf(at, 1) || p.leastSquares(math.Inf(1)) <= bound {
		e.Low = p.edge(at, 1/edgeStep, 1, bound)
		return e
	}
	e.Low, e.High = p.edge(at, 1/edgeStep, 1, bound), p.edge(at, edgeStep, math.Inf(1), bound)
	e.Shown = e.High < p.points[len(p.points)-1].N && p.falls(math.Sqrt(least/free), free)
	return e
}

// fisher returns the quantile of the F distribution at Confidence.
func fisher(free float64) float64 { return distuv.F{D1: 1, D2: free}.Quantile(Confidence) }

// A profile computes how well laws with a given peak fit the points.
type profile struct{ points []Point }

// falls reports whether the throughput of the last level lies below the greatest by more than
// the scatter of levels about the law.
func (p profile) falls(scatter, free float64) bool {
	greatest := 0.
	for _, at := range p.points {
		greatest = max(greatest, at.Value)
	}
	fall := math.Log(greatest / p.points[len(p.points)-1].Value)
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: free}.Quantile((1 + Confidence) / 2)
	return fall > t*scatter*math.Sqrt2
}

// edgeStep is the factor by which the search for an interval's end proceeds, and edgeSteps
// limits its steps. A peak at more than distant times the last level makes no difference at any
// level.
const (
	distant   = 100
	edgeStep  = 1.5
	edgeSteps = 60
)

// edge moves from a peak by factor until laws no longer fit, and returns that point to within a
// thousandth, or returns the limit.
func (p profile) edge(from, factor, limit, bound float64) float64 {
	in := min(from, distant*p.points[len(p.points)-1].N)
	for range edgeSteps {
		out := in * factor
		if out <= 1 {
			return 1
		}
		if p.leastSquares(out) > bound {
			for math.Abs(math.Log(out/in)) > 1e-3 {
				if middle := math.Sqrt(in * out); p.leastSquares(middle) > bound {
					out = middle
				} else {
					in = middle
				}
			}
			return in
		}
		in = out
	}
	return limit
}

// leastSquares returns the smallest sum of squares of the laws that peak at the knee.
func (p profile) leastSquares(knee float64) float64 {
	at := func(odds float64) float64 { return p.squares(odds/(1+odds), knee) }
	// The odds of α are searched on a logarithmic scale, first on a grid, because there may be
	// two minima.
	const low, high, steps = -18., 8., 26
	best := low
	for i := range steps + 1 {
		x := low + (high-low)*float64(i)/steps
		if at(math.Exp(x)) < at(math.Exp(best)) {
			best = x
		}
	}
	from, to := best-1, best+1
	for to-from > 1e-3 {
		a, b := from+(to-from)*0.382, from+(to-from)*0.618
		if at(math.Exp(a)) < at(math.Exp(b)) {
			to = b
		} else {
			from = a
		}
	}
	return min(at(math.Exp(from)), p.squares(0, knee))
}

// squares returns the sum of squares of the law with the given α and knee and the γ that fits best.
func (p profile) squares(alpha, knee float64) (sum float64) {
	u := USL{Alpha: alpha, Beta: (1 - alpha) / (knee * knee), Gamma: 1}
	mean := 0.
	for _, at := range p.points {
		mean += math.Log(at.Value/u.Value(at.N)) / float64(len(p.points))
	}
	for _, at := range p.points {
		r := math.Log(at.Value/u.Value(at.N)) - mean
		sum += r * r
	}
	return sum
}
