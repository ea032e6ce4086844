package history

import (
	"math"

	"gonum.org/v1/gonum/stat"

	"github.com/stampede-bench/stampede/results/stats"
)

// drifts replaces steps by drifts where a straight line, or a level that a line follows, describes the
// values better than the steps do.
func drifts(values []float64, steps []Change) (all []Change) {
	for i := 0; i < len(steps); {
		last := i // of the steps in the same direction
		for last+1 < len(steps) && steps[last+1].Size*steps[i].Size > 0 {
			last++
		}
		all = append(all, explain(values, steps, i, last)...)
		i = last + 1
	}
	return all
}

// positive is by how much the criterion of a line must be less than that of steps: a step that few values follow
// looks like the beginning of a line. From 2 on such a difference is called positive evidence (Kass and Raftery, 1995).
const positive = 3

// explain returns the steps from first to last, or one drift instead of them.
func explain(values []float64, steps []Change, first, last int) []Change {
	begin, to := 0, len(values)
	if first > 0 {
		begin = steps[first-1].At
	}
	if last+1 < len(steps) {
		to = steps[last+1].At
	}
	part := stats.Clip(values[begin:to], tailFrom(steps[first].At-begin, to-begin))
	var places []int
	for _, s := range steps[first : last+1] {
		places = append(places, s.At-begin)
	}
	at, size, line := ramp(part)
	if line+positive >= criterion(part, levels(part, places), 2*len(places)+1) {
		return steps[first : last+1]
	}
	drift := steps[first]
	drift.At, drift.To, drift.Size = begin+at, to-1, size
	return []Change{drift}
}

// criterion is the Bayesian information criterion: less is better.
func criterion(values []float64, squares float64, parameters int) float64 {
	n := float64(len(values))
	return n*math.Log(squares/n+1e-24) + float64(parameters)*math.Log(n)
}

// levels returns the sum of the squared deviations from the means between the places.
func levels(values []float64, places []int) (squares float64) {
	from := 0
	for _, to := range append(places, len(values)) {
		part := values[from:to]
		m := stat.Mean(part, nil)
		for _, v := range part {
			squares += (v - m) * (v - m)
		}
		from = to
	}
	return squares
}

// ramp fits a level that a straight line follows, and returns where the line begins, its rise, and the
// criterion of the fit.
func ramp(values []float64) (begin int, rise, best float64) {
	best = math.Inf(1)
	x := make([]float64, len(values))
	for at := 0; at <= len(values)-2*fewest; at++ {
		for i := range x {
			x[i] = float64(max(0, i-at))
		}
		level, slope := stat.LinearRegression(x, values, nil, false)
		squares, parameters := 0.0, 3
		for i, v := range values {
			squares += (v - level - slope*x[i]) * (v - level - slope*x[i])
		}
		if at == 0 {
			parameters = 2
		}
		if c := criterion(values, squares, parameters); c < best {
			begin, rise, best = at, slope*x[len(x)-1], c
		}
	}
	return begin, rise, best
}
