package metric

import (
	"strings"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
)

// Doubt returns the first doubt about the run that makes its value of the metric meaningless, false
// if there is none. Thresholds and comparisons both judge runs by it. Exact counts do not depend on
// how fast the load generator was, so most doubts concern only timed metrics.
func (m Metric) Doubt(r results.Run) (results.Warning, bool) {
	for _, d := range r.Doubts {
		if m.DoubtedBy(d.Code) {
			return d, true
		}
	}
	return results.Warning{}, false
}

// DoubtedBy reports whether a doubt with the code concerns the metric.
func (m Metric) DoubtedBy(code string) bool {
	background := strings.HasPrefix(m.Name, "background.")
	switch {
	case strings.HasPrefix(m.Name, "generator.") || strings.HasPrefix(m.Name, "machine.") || strings.HasPrefix(m.Name, "rate."):
		return false // doubts are derived from them
	case code == metrics.AgentLost:
		return m.Name != "safety.violations" // a violation among the other agents' clients is one
	case code == metrics.Abandoned:
		return m.Timed || m.Unit == PerRound
	case code == metrics.Bystanders:
		return background && m.Timed
	case LostArrivals(code):
		return !background && m.Timed
	}
	return m.Timed
}

// LostArrivals reports whether a doubt with the code means that arrivals have no response time, so that
// the true times are at least as long as the measured ones.
func LostArrivals(code string) bool {
	return code == metrics.Skipped || code == metrics.Unfinished || code == metrics.Failed
}
