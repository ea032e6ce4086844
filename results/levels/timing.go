package levels

import (
	"math"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/figure"
)

// A Timing is the times of a phase that a column shows.
type Timing struct {
	Of      func(results.Run) *results.Distribution
	Endless func(percentile float64, r results.Run) bool // that percentile is the time of an arrival which was not served
}

// Responses returns the response times of a phase, or its service times where there are none.
func Responses(phase string) Timing {
	return Timing{func(r results.Run) *results.Distribution { return r.Times(phase) }, func(p float64, r results.Run) bool { return figure.Endless(phase, p, r) }}
}

// Calls returns the service times of a phase.
func Calls(phase string) Timing {
	return Timing{func(r results.Run) *results.Distribution { return r.ServiceTimes(phase) }, func(float64, results.Run) bool { return false }}
}

// Percentile returns the function that gives a run's value of the percentile, as its figure has it.
func (t Timing) Percentile(p float64) func(results.Run) (float64, bool) {
	served := ValueAt(t.Of, p)
	return func(r results.Run) (float64, bool) {
		v, known := served(r)
		if !known && t.Endless(p, r) {
			return math.Inf(1), true
		}
		return v, known
	}
}

// LossTail is the percentile that shows that arrivals were lost, where it is infinite and the others shown are not.
const LossTail = 99.

// HidesLoss reports whether the run has a time for the percentile, although a higher one is infinite.
func (t Timing) HidesLoss(p float64, r results.Run) bool {
	return p < LossTail && !t.Endless(p, r) && t.Endless(LossTail, r)
}

// Value returns the function that gives a value of a run's times.
func (t Timing) Value(of func(*results.Distribution) float64) func(results.Run) (float64, bool) {
	return func(r results.Run) (float64, bool) {
		if d := t.Of(r); d != nil {
			return of(d), true
		}
		return 0, false
	}
}
