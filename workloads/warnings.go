package workloads

import (
	"fmt"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
)

// behind is the least share of the offered rounds that must have ended.
const behind = 0.95

// warn records the warnings about the results, and which of them make the results doubtful.
func (r *runner) warn(m *metrics.Record) {
	warn := func(w metrics.Warning) { m.Warnings = append(m.Warnings, w) }
	doubt := func(is bool, code, format string, args ...any) {
		if is {
			w := metrics.Warn(code, format, args...)
			warn(w)
			m.Doubts = append(m.Doubts, w)
		}
	}
	if w := m.Warmup; r.plan.Cold && len(w.Rates) > 0 && !w.Steady {
		warn(metrics.Warn(metrics.NotWarm, "throughput still rose after a warm-up of %v: the server may be faster than this", w.Took.Round(100*time.Millisecond)))
	}
	g := m.Generator
	doubt(r.cut && !r.queued, metrics.Abandoned, "rounds did not end in time and were abandoned: counts are not of whole rounds")
	if r.queued && r.cut {
		warn(metrics.Warn(metrics.Abandoned, "%d turns were in progress when the window closed and would have taken %v more: they were abandoned, and identities are not checked",
			g.Unfinished, r.queueTime(m).Round(time.Second)))
	}
	for _, d := range generatorDoubts(m) {
		doubt(true, d.Code, "%s", d.Text)
	}
	if w := sharedMachine(m); len(m.Doubts) == 0 && w.Text != "" {
		warn(w)
	}
	doubt(g.Skipped > 0, metrics.Skipped, notServed, g.Skipped, g.Offered, "")
	doubt(g.Offered > 0 && g.Unfinished > 0, metrics.Unfinished, notFinished, g.Unfinished, g.Offered, "", g.Oldest.Round(time.Millisecond))
	doubt(g.Failed > 0, metrics.Failed, failed, g.Failed, g.Offered, "")
	closedLoop := func(whose, unfinished string, of *metrics.Record) {
		if text, stoodStill := turnsInProgress(of); stoodStill {
			doubt(true, unfinished, "%s%s", whose, text)
		} else if text != "" {
			warn(metrics.Warn(unfinished, "%s%s", whose, text))
		}
		if l := of.Little; l != nil && !l.Holds() {
			warn(metrics.Warn(metrics.LittlesLaw, "%s"+littlesLaw, whose, l.InProgress, l.Ended, l.Error))
		}
	}
	closedLoop("", metrics.Unfinished, m)
	doubt(g.Unaccounted() != 0, metrics.Unaccounted, notAccounted, "", g.Offered, g.Completed, g.Failed, g.Skipped, g.Unfinished)
	doubt(g.Skipped+g.Unfinished+g.Failed == 0 && float64(m.Rounds+int64(r.plan.Clients)) < behind*float64(g.Offered), metrics.Behind,
		"rate not reached: %d rounds of %d that were offered", m.Rounds, g.Offered)
	if b := m.Background; b != nil {
		closedLoop("background: ", metrics.Bystanders, b)
		g, lost := b.Generator, b.Errors[drivers.ErrSessionLost.Error()]
		doubt(g.Skipped > 0, metrics.Bystanders, notServed, g.Skipped, g.Offered, "background ")
		doubt(g.Offered > 0 && g.Unfinished > 0, metrics.Bystanders, notFinished, g.Unfinished, g.Offered, "background ", g.Oldest.Round(time.Millisecond))
		doubt(g.Failed > 0, metrics.Bystanders, failed, g.Failed, g.Offered, "background ")
		doubt(g.Unaccounted() != 0, metrics.Unaccounted, notAccounted, "background ", g.Offered, g.Completed, g.Failed, g.Skipped, g.Unfinished)
		if lost > 0 {
			warn(metrics.Warn(metrics.BackgroundSessionsLost, "sessions that the background lost: %d", lost))
		}
	}
}

// turnsInProgress reports whether a closed loop had turns in progress at the end that took far
// longer than any turn that ended. stoodStill reports whether at least half of the turns in
// progress did, as when the service hangs.
func turnsInProgress(m *metrics.Record) (text string, stoodStill bool) {
	g := m.Generator
	if g.Overdue == 0 || g.Oldest < leastOverdue {
		return "", false
	}
	return fmt.Sprintf("%d turns had not ended when the window closed, the oldest after %v; the longest that ended took %v: no time includes them",
		g.Overdue, g.Oldest.Round(time.Millisecond), g.Longest.Round(time.Microsecond)), 2*g.Overdue >= g.Unfinished
}

const (
	// leastOverdue is the least age of a turn in progress that is worth a warning.
	leastOverdue = 100 * time.Millisecond
	littlesLaw   = "Little's law does not hold: %.3g turns were in progress on average, those that ended account for %.3g (error %.2g): " +
		"their times do not stand for all, so measure for longer"
)

// Why arrivals make results doubtful: the number of arrivals, the total, and whose they are.
const (
	notServed    = "%d of %d %sarrivals found no client free before the end: the response times are lower bounds"
	notFinished  = "%d of %d %sarrivals did not end, the oldest was due for %v: the response times are lower bounds"
	failed       = "%d of %d %sarrivals failed with their session or their connection: the response times do not include them"
	notAccounted = "%sarrivals do not add up: %d offered, but %d completed, %d failed, %d skipped and %d unfinished: this is a defect of stampede"
)
