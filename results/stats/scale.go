package stats

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// A USL is the Universal Scalability Law: the throughput of N parallel workers is γN/(1 +
// α(N−1) + βN(N−1)).
type USL struct {
	Alpha float64 // contention: the share of the work that is serial, 0 to 1
	Beta  float64 // coherency: the cost of each pair of workers, at least 0
	Gamma float64 // the throughput of one worker
}

// Value returns the throughput of n workers.
func (u USL) Value(n float64) float64 {
	return u.Gamma * n / (1 + u.Alpha*(n-1) + u.Beta*n*(n-1))
}

// Knee returns the N beyond which throughput falls: infinite if there is none, and 1 if one
// worker alone achieves most.
func (u USL) Knee() float64 {
	return max(1, math.Sqrt((1-u.Alpha)/u.Beta))
}

// R2 returns the share of the variance of the levels' medians that the law explains.
func (u USL) R2(levels []Level) float64 {
	var estimates, values []float64
	for _, p := range medians(levels) {
		estimates, values = append(estimates, u.Value(p.N)), append(values, p.Value)
	}
	return stat.RSquaredFrom(estimates, values, nil)
}

// parameters is the number of parameters of a USL. With only as many levels there are no
// residuals to judge the fit by.
const parameters = 3

// Scale fits the law to the levels' median throughputs, by least squares of the relative
// residuals. The error names the missing measurements.
func Scale(levels []Level) (USL, error) {
	all := medians(levels)
	if len(all) <= parameters {
		return USL{}, errors.New("the Universal Scalability Law has three parameters: it takes four levels or more")
	}
	c := coordinates{widest(all)}
	off := func(at []float64) (sum float64) {
		u := c.law(at)
		for _, p := range all {
			r := math.Log(p.Value / u.Value(p.N))
			sum += r * r
		}
		return sum
	}
	found, err := optimize.Minimize(optimize.Problem{Func: off}, c.parameters(linear(all)),
		&optimize.Settings{Converger: &optimize.FunctionConverge{Absolute: 1e-9, Relative: 1e-6, Iterations: 15}},
		&optimize.NelderMead{SimplexSize: 0.1})
	if err != nil {
		return USL{}, err
	}
	return c.law(found.X), nil
}

// linear returns the start of the search. N/X is linear in 1/γ, α/γ and β/γ, and a relative
// error of X is the same relative error of N/X.
func linear(all []Point) USL {
	a, b := mat.NewDense(len(all), parameters, nil), mat.NewVecDense(len(all), nil)
	for i, p := range all {
		weight := p.Value / p.N
		a.SetRow(i, []float64{weight, weight * (p.N - 1), weight * p.N * (p.N - 1)})
		b.SetVec(i, 1)
	}
	var qr mat.QR
	qr.Factorize(a)
	var x mat.VecDense
	if err := qr.SolveVecTo(&x, false, b); err != nil || x.AtVec(0) <= 0 {
		return USL{Gamma: all[0].Value / all[0].N} // any start will do
	}
	return USL{Gamma: 1 / x.AtVec(0), Alpha: x.AtVec(1) / x.AtVec(0), Beta: x.AtVec(2) / x.AtVec(0)}
}

// coordinates transforms the parameters for the search: all are of the order of 1, and none
// stands for an α outside 0 to 1 or a negative β. Without these bounds, levels that all lie
// beyond the peak determine only the ratio of α and γ.
type coordinates struct{ widest float64 }

// mostAlpha is the greatest α at which a search begins.
const mostAlpha = 0.9

func widest(all []Point) (n float64) {
	for _, p := range all {
		n = max(n, p.N)
	}
	return n
}

func (c coordinates) law(at []float64) USL {
	odds := at[1] * at[1] / c.widest
	return USL{Gamma: math.Exp(at[0]), Alpha: odds / (1 + odds), Beta: at[2] * at[2] / (c.widest * c.widest)}
}

func (c coordinates) parameters(u USL) []float64 {
	alpha := min(max(u.Alpha, 0), mostAlpha)
	return []float64{math.Log(u.Gamma), math.Sqrt(alpha / (1 - alpha) * c.widest), math.Sqrt(max(u.Beta, 0)) * c.widest}
}

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
