package stats

import (
	"errors"
	"math"
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
	var n, values []float64
	for _, p := range medians(levels) {
		n, values = append(n, p.N), append(values, p.Value)
	}
	mean := Mean(values)
	return 1 - squares(values, func(i int) float64 { return u.Value(n[i]) })/squares(values, func(int) float64 { return mean })
}

// parameters is the number of parameters of a USL. With only as many levels there are no
// residuals to judge the fit by.
const parameters = 3

// Scale fits the law with 0 ≤ α ≤ 1 and β ≥ 0 to the levels' median throughputs, by least squares of
// the relative residuals. Without these bounds, levels that all lie beyond the peak determine only the
// ratio of α and γ. The error names the missing measurements.
func Scale(levels []Level) (USL, error) {
	all := medians(levels)
	if len(all) <= parameters {
		return USL{}, errors.New("the Universal Scalability Law has three parameters: it takes four levels or more")
	}
	fits := profile{all}
	knee := math.Exp(lowest(func(x float64) float64 { return fits.leastSquares(math.Exp(x)) },
		0, math.Log(distant*all[len(all)-1].N), 24))
	law, squares := fits.law(knee)
	if none, least := fits.law(math.Inf(1)); least <= squares {
		law = none
	}
	return law, nil
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
	t := student(free).quantile((1 + Confidence) / 2)
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
	_, squares := p.law(knee)
	return squares
}

// law returns the law with the given knee that fits best, and its sum of squares.
func (p profile) law(knee float64) (best USL, squares float64) {
	// The odds of α are searched on a logarithmic scale.
	share := func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
	at := lowest(func(x float64) float64 { _, sum := p.scaled(share(x), knee); return sum }, -18, 8, 26)
	best, squares = p.scaled(share(at), knee)
	if serial, sum := p.scaled(0, knee); sum <= squares {
		return serial, sum
	}
	return best, squares
}

// scaled returns the law with the given α and knee and the γ that fits best, and its sum of squares.
func (p profile) scaled(alpha, knee float64) (u USL, sum float64) {
	u = USL{Alpha: alpha, Beta: (1 - alpha) / (knee * knee), Gamma: 1}
	mean := 0.
	for _, at := range p.points {
		mean += math.Log(at.Value/u.Value(at.N)) / float64(len(p.points))
	}
	for _, at := range p.points {
		r := math.Log(at.Value/u.Value(at.N)) - mean
		sum += r * r
	}
	u.Gamma = math.Exp(mean)
	return u, sum
}

// lowest returns where f is lowest between low and high: first on a grid, because there may be several
// minima, then by golden section around the best of its steps.
func lowest(f func(float64) float64, low, high float64, steps int) float64 {
	best, step := low, (high-low)/float64(steps)
	least := f(low)
	for i := 1; i <= steps; i++ {
		if v := f(low + float64(i)*step); v < least {
			best, least = low+float64(i)*step, v
		}
	}
	const golden, within = 0.6180339887498949, 1e-5
	from, to := max(best-step, low), min(best+step, high)
	a, b := to-golden*(to-from), from+golden*(to-from)
	fa, fb := f(a), f(b)
	for to-from > within {
		if fa < fb {
			to, b, fb = b, a, fa
			a = to - golden*(to-from)
			fa = f(a)
		} else {
			from, a, fa = a, b, fb
			b = from + golden*(to-from)
			fb = f(b)
		}
	}
	return (from + to) / 2
}
