package stats

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"
	"gonum.org/v1/gonum/stat"
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
