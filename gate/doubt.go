package gate

import (
	"slices"
	"strings"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/figures"
)

// The codes of doubts that do not bear on every figure that depends on time, as
// metrics has them.
const (
	skipped    = "skipped"
	unfinished = "unfinished"
	failed     = "failed"
	abandoned  = "abandoned"
	bystanders = "bystanders"
)

// doubtful is the first doubt for which the figure proves nothing, "" if there is
// none. What is counted exactly does not depend on how fast the generator was.
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
		return false // they are what doubts are made of
	case code == abandoned:
		return f.Timed || f.Unit == figures.PerRound
	case code == bystanders:
		return beside && f.Timed
	case lost(code):
		return !beside && f.Timed
	}
	return f.Timed
}

// lost tells whether arrivals have no response time, so that times are at least what
// was measured.
func lost(code string) bool { return code == skipped || code == unfinished || code == failed }

// brokenAnyway tells whether a threshold is not met although the run is doubtful:
// where arrivals were not served, times are at least what was measured.
func (t Threshold) brokenAnyway(r results.Run, measured, limit float64) bool {
	upper := t.op == figures.Below || t.op == figures.AtMost
	bound := !slices.ContainsFunc(r.Doubted(), func(d results.Warning) bool {
		return bears(d.Code, t.figure) && !lost(d.Code)
	})
	return bound && upper && t.figure.Unit == figures.Nanoseconds && !t.op.Holds(measured, limit)
}
