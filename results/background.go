package results

import (
	"time"

	"github.com/stampede-bench/stampede/metrics"
)

// A Background is the mix that ran beside a recipe in the same window, with clients
// that do not take part in the recipe. None of it is in the run's own counts.
type Background struct {
	Clients        int                `json:"clients"`
	RatePerS       float64            `json:"rate_per_s,omitempty"` // operations asked for; 0 in a closed loop
	ReadRatio      ReadRatio          `json:"read_ratio"`
	Keys           int                `json:"keys"`
	SizeBytes      int                `json:"size_bytes"`
	Watchers       int                `json:"watchers,omitempty"` // sessions beside its clients that watch
	Rounds         int64              `json:"rounds"`             // operations completed
	ThroughputPerS float64            `json:"throughput_per_s"`
	Latency        map[string]Latency `json:"latency"` // by phase
	Phases         []string           `json:"phases"`
	Offered        int64              `json:"offered,omitempty"` // arrivals that were due in the window; in an open loop only
	Late           int64              `json:"late"`
	Completed      int64              `json:"completed,omitempty"`
	Failed         int64              `json:"failed,omitempty"`
	Skipped        int64              `json:"skipped"`
	Unfinished     int64              `json:"unfinished"`
	OldestNS       time.Duration      `json:"oldest_unfinished_ns,omitempty"` // for how long the first of them had been due
	Little         *Little            `json:"littles_law,omitempty"`          // in a closed loop only
	Errors         map[string]int64   `json:"errors"`                         // how often, by the error's text
	Checked        int64              `json:"checked"`                        // violations are among the run's own
}

// addBackground adds the measurements of the background load, if one was requested.
func (r *Run) addBackground(s Setting, m *metrics.Record, write writing) {
	if m == nil || s.Background == nil {
		return
	}
	b, g := *s.Background, m.Generator
	b.ReadRatio = b.ReadRatio.achieved(*m.Mix)
	b.Rounds, b.ThroughputPerS = m.Rounds, perSecond(m.Rounds, m.Duration)
	b.Offered, b.Late, b.Completed, b.Failed, b.Skipped, b.Unfinished = g.Offered, g.Late, g.Completed, g.Failed, g.Skipped, g.Unfinished
	b.OldestNS, b.Little = g.Oldest, little(m.Little)
	b.Errors, b.Checked = m.Errors, m.Safety.Checked
	b.Phases, b.Latency = phases(m, write)
	r.Background = &b
}
