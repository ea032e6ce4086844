package gate

import (
	"slices"
	"strings"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/figures"
)

// The codes, from package metrics, of doubts that do not affect every figure that depends on time.
const (
	skipped    = "skipped"
	unfinished = "unfinished"
	failed     = "failed"
	abandoned  = "abandoned"
	bystanders = "bystanders"
)

// doubtful returns the text of the first doubt that makes the figure meaningless, "" if there is
// none. Exact counts do not depend on how fast the load generator was.
func doubtful(f figures.Figure, r results.Run) string {
	for _, d := range r.Doubted() {
		if bears(d.Code, f) {
			return d.Text
		}
	}
	return ""
}

func bears(code string, f figures.Figure) bool {
	beside := strings.HasPrefix(f.Name, "background.")
	switch {
	case strings.HasPrefix(f.Name, "generator.") || strings.HasPrefix(f.Name, "machine.") || strings.HasPrefix(f.Name, "rate."):
		return false // doubts are derived from them
	case code == abandoned:
		return f.Timed || f.Unit == figures.PerRound
	case code == bystanders:
		return beside && f.Timed
	case lost(code):
		return !beside && f.Timed
	}
	return f.Timed
}

// lost reports whether the doubt means that arrivals have no response time, so that true times are
// at least as long as the measured ones.
func lost(code string) bool { return code == skipped || code == unfinished || code == failed }

// brokenAnyway reports whether a threshold is not met although the run is doubtful: if arrivals
// were not served, true times are at least as long as the measured ones.
func (t Threshold) brokenAnyway(r results.Run, measured, limit float64) bool {
	upper := t.op == figures.Below || t.op == figures.AtMost
	bound := !slices.ContainsFunc(r.Doubted(), func(d results.Warning) bool {
		return bears(d.Code, t.figure) && !lost(d.Code)
	})
	return bound && upper && t.figure.Unit == figures.Nanoseconds && !t.op.Holds(measured, limit)
}
