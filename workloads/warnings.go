package workloads

import (
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
	m.Doubt(m.Generator.LostArrivals()...)
	doubts, warnings := m.TurnsInProgress()
	m.Doubt(doubts...)
	m.Warn(warnings...)
	if m.Background != nil {
		warnOfBackground(m)
	}
}

// warnOfBackground records the warnings about the background load.
func warnOfBackground(m *metrics.Record) {
	b := m.Background
	doubts, warnings := b.TurnsInProgress()
	m.Doubt(metrics.OfBackground(doubts)...)
	m.Warn(metrics.OfBackground(warnings)...)
	m.Doubt(metrics.OfBackground(b.Generator.LostArrivals())...)
	if lost := b.Errors[drivers.ErrSessionLost.Error()]; lost > 0 {
		m.Warn(metrics.Warning{Code: metrics.BackgroundSessionsLost, Numbers: metrics.Numbers{"sessions": float64(lost)}})
	}
}

// MissedRate returns the warning that the service was too slow for the rate.
func (p Plan) MissedRate(m *metrics.Record) []metrics.Warning {
	return m.MissedRate(p.Settings.Hold, p.Clients*max(p.Settings.Mix.InFlight, 1))
}
