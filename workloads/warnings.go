package workloads

import (
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/metrics/shortage"
)

// leastShare is the least share of the window that an interrupted run must have measured.
const leastShare = 0.5

// measuredShare returns which share of the window that was asked for the run has measured.
func (r *runner) measuredShare(m *metrics.Record) float64 {
	if r.plan.Rounds > 0 {
		return float64(m.Rounds) / float64(r.plan.Rounds)
	}
	return m.Duration.Seconds() / r.plan.Duration.Seconds()
}

// warn records the warnings about the results, and which of them make the results doubtful.
func (r *runner) warn(m *metrics.Record) {
	if w := m.Warmup; r.plan.Cold && len(w.Rates) > 0 && !w.Steady {
		m.Warn(metrics.Warning{Code: metrics.NotWarm, Numbers: metrics.Numbers{"warmup_ns": float64(w.Took)}})
	}
	if share := r.measuredShare(m); r.interrupted && share < leastShare {
		m.Doubt(metrics.Warning{Code: metrics.Interrupted, Numbers: metrics.Numbers{"measured_share": share}})
	}
	switch g := m.Generator; {
	case r.cut && r.queued:
		m.Warn(metrics.Warning{Code: metrics.Abandoned, Numbers: metrics.Numbers{"unfinished": float64(g.Unfinished), "remaining_ns": float64(r.queueTime(m))}})
	case r.cut:
		m.Doubt(metrics.Warning{Code: metrics.Abandoned})
	}
	m.Doubt(shortage.Doubts(m)...)
	if w, busy := shortage.SharedMachine(m); busy && len(m.Doubts) == 0 {
		m.Warn(w)
	}
	m.Doubt(lostArrivals(m.Generator)...)
	doubts, warnings := turnsInProgress(m)
	m.Doubt(doubts...)
	m.Warn(warnings...)
	if m.Background != nil {
		warnOfBackground(m)
	}
}

// warnOfBackground records the warnings about the background load.
func warnOfBackground(m *metrics.Record) {
	b := m.Background
	doubts, warnings := turnsInProgress(b)
	m.Doubt(ofBackground(doubts)...)
	m.Warn(ofBackground(warnings)...)
	m.Doubt(ofBackground(lostArrivals(b.Generator))...)
	if lost := b.Errors[drivers.ErrSessionLost.Error()]; lost > 0 {
		m.Warn(metrics.Warning{Code: metrics.BackgroundSessionsLost, Numbers: metrics.Numbers{"sessions": float64(lost)}})
	}
}

// ofBackground returns warnings about the background load for those of a load. Work that the
// background lost has a code of its own, since it concerns only the background's figures.
func ofBackground(all []metrics.Warning) (of []metrics.Warning) {
	for _, w := range all {
		w.Names = metrics.Names{metrics.OfLoad: metrics.Background}
		switch w.Code {
		case metrics.Skipped, metrics.Unfinished, metrics.Failed:
			w.Names[metrics.Cause], w.Code = w.Code, metrics.Bystanders
		}
		of = append(of, w)
	}
	return of
}

// lostArrivals returns the doubts about arrivals that have no response time.
func lostArrivals(g metrics.Generator) (all []metrics.Warning) {
	doubt := func(is bool, code string, numbers metrics.Numbers) {
		if numbers["offered"] = float64(g.Offered); is {
			all = append(all, metrics.Warning{Code: code, Numbers: numbers})
		}
	}
	skipped, unfinished, failed := float64(g.Skipped), float64(g.Unfinished), float64(g.Failed)
	doubt(g.Skipped > 0, metrics.Skipped, metrics.Numbers{"skipped": skipped})
	doubt(g.Offered > 0 && g.Unfinished > 0, metrics.Unfinished, metrics.Numbers{"unfinished": unfinished, "oldest_ns": float64(g.Oldest)})
	doubt(g.Failed > 0, metrics.Failed, metrics.Numbers{"failed": failed})
	return all
}

// MissedRate returns the warning that the service was too slow for the rate.
func (p Plan) MissedRate(m *metrics.Record) []metrics.Warning {
	return m.MissedRate(p.Settings.Hold, p.Clients*max(p.Settings.Mix.InFlight, 1))
}

// leastOverdue is the least age of a turn in progress that is worth a warning.
const leastOverdue = 100 * time.Millisecond

// turnsInProgress warns of a closed loop that had turns in progress at the end that took far longer
// than any turn that ended, and of one in which Little's law does not hold. The former is a doubt if
// at least half of the turns in progress took so long, as when the service hangs.
func turnsInProgress(m *metrics.Record) (doubts, warnings []metrics.Warning) {
	g := m.Generator
	if g.Overdue > 0 && g.Oldest >= leastOverdue {
		w := metrics.Warning{Code: metrics.Unfinished, Numbers: metrics.Numbers{
			"overdue": float64(g.Overdue), "oldest_ns": float64(g.Oldest), "longest_ns": float64(g.Longest)}}
		if 2*g.Overdue >= g.Unfinished {
			doubts = append(doubts, w)
		} else {
			warnings = append(warnings, w)
		}
	}
	return doubts, append(warnings, m.Little.Warnings()...)
}
