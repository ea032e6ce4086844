package gate

import (
	"slices"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/metric"
)

// doubtful returns the text of the first doubt that makes the metric meaningless, "" if there is
// none.
func doubtful(m metric.Metric, r results.Run) string {
	d, _ := m.Doubt(r)
	return d.Text
}

// failsAnyway reports whether a threshold is not met although the run is doubtful: if arrivals were
// not served, true times are at least as long as the measured ones.
func (t Threshold) failsAnyway(r results.Run, measured, limit float64) bool {
	upper := t.op == metric.Below || t.op == metric.AtMost
	bound := !slices.ContainsFunc(r.Doubts, func(d results.Warning) bool {
		return t.figure.DoubtedBy(d.Code) && !metric.LostArrivals(d.Code)
	})
	return bound && upper && t.figure.Unit == metric.Nanoseconds && !t.op.Holds(measured, limit)
}
