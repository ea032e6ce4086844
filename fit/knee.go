package fit

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// A Peak is the N at which throughput is greatest, and the interval of it.
type Peak struct {
	Estimate
	// Shown says that a fall beyond the peak was measured. Otherwise a curve that
	// only saturates fits the levels as well, or nearly so.
	Shown bool
}

// Peak is that of the law that was fitted to the levels. Its interval has the peaks of
// all laws that fit the levels nearly as well: the sum of squares may exceed the least
// one by as much as [Confidence] allows, by the F-test. The replicates are the levels,
// so the interval includes what sets levels apart and the lack of fit. High is
// infinite where laws without a peak fit.
func (u USL) Peak(levels []Level) Peak {
	p := profile{medians(levels)}
	at := u.Knee()
	free := float64(len(p.points) - parameters)
	least := min(p.off(at), p.off(math.Inf(1)))
	bound := least * (1 + fisher(free)/free)
	e := Peak{Estimate: Estimate{Value: at, Low: 1, High: math.Inf(1), Confidence: Confidence}}
	if math.IsInf(at, 1) || p.off(math.Inf(1)) <= bound {
		e.Low = p.edge(at, 1/edgeStep, 1, bound)
		return e
	}
	e.Low, e.High = p.edge(at, 1/edgeStep, 1, bound), p.edge(at, edgeStep, math.Inf(1), bound)
	e.Shown = e.High < p.points[len(p.points)-1].N && p.falls(math.Sqrt(least/free), free)
	return e
}

// fisher is the quantile of the F distribution that Confidence asks for.
func fisher(free float64) float64 { return distuv.F{D1: 1, D2: free}.Quantile(Confidence) }

// A profile is how well laws with a given peak fit the points.
type profile struct{ points []Point }

// falls tells whether the throughput of the last level lies below the greatest by more
// than levels scatter about the law.
func (p profile) falls(scatter, free float64) bool {
	greatest := 0.
	for _, at := range p.points {
		greatest = max(greatest, at.Value)
	}
	fall := math.Log(greatest / p.points[len(p.points)-1].Value)
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: free}.Quantile((1 + Confidence) / 2)
	return fall > t*scatter*math.Sqrt2
}

// edgeStep is how an interval's end is approached; edgeSteps bound how far. A peak
// that is distant times as far as the last level makes no difference at any level.
const (
	distant   = 100
	edgeStep  = 1.5
	edgeSteps = 60
)

// edge goes from a peak by a factor to where laws no longer fit, to within a
// thousandth, or to the limit.
func (p profile) edge(from, factor, limit, bound float64) float64 {
	in := min(from, distant*p.points[len(p.points)-1].N)
	for range edgeSteps {
		out := in * factor
		if out <= 1 {
			return 1
		}
		if p.off(out) > bound {
			for math.Abs(math.Log(out/in)) > 1e-3 {
				if middle := math.Sqrt(in * out); p.off(middle) > bound {
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

// off is the least sum of squares of the laws that peak at the knee.
func (p profile) off(knee float64) float64 {
	at := func(odds float64) float64 { return p.of(odds/(1+odds), knee) }
	// The odds of α are searched on a logarithmic scale, first on a grid: there may be
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
	return min(at(math.Exp(from)), p.of(0, knee))
}

// of is the sum of squares of the law with the α and the knee, with the γ that is
// best for them.
func (p profile) of(alpha, knee float64) (sum float64) {
	u := USL{Alpha: alpha, Beta: (1 - alpha) / (knee * knee), Gamma: 1}
	mean := 0.
	for _, at := range p.points {
		mean += math.Log(at.Value/u.At(at.N)) / float64(len(p.points))
	}
	for _, at := range p.points {
		r := math.Log(at.Value/u.At(at.N)) - mean
		sum += r * r
	}
	return sum
}
