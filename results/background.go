package results

import (
	"fmt"
	"time"

	"github.com/stampede-bench/stampede/metrics"
)

// A Background is the mix that went on beside a recipe in the same window: what
// became of clients that have nothing to do with it. None of it is in the run's
// own counts.
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
	Completed      int64              `json:"completed,omitempty"` // not in older files
	Failed         int64              `json:"failed,omitempty"`    // not in older files
	Skipped        int64              `json:"skipped"`
	Unfinished     int64              `json:"unfinished"`
	OldestNS       time.Duration      `json:"oldest_unfinished_ns,omitempty"` // for how long the first of them had been due; not in older files
	Little         *Little            `json:"littles_law,omitempty"`          // in a closed loop only; not in older files
	Errors         map[string]int64   `json:"errors"`                         // how often, by the error's text
	Checked        int64              `json:"checked"`                        // violations are among the run's own
}

// beside adds the measurements of the background load, if one was requested.
func (r *Run) beside(s Setting, m *metrics.Record, write writing) {
	if m == nil || s.Background == nil {
		return
	}
	b, g := *s.Background, m.Generator
	b.ReadRatio = b.ReadRatio.achieved(*m.Mix)
	b.Rounds, b.ThroughputPerS = m.Rounds, perSecond(m.Rounds, m.Duration)
	b.Offered, b.Late, b.Completed, b.Failed, b.Skipped, b.Unfinished = g.Offered, g.Late, g.Completed, g.Failed, g.Skipped, g.Unfinished
	b.OldestNS, b.Little = g.Oldest, little(m.Little)
	b.Errors, b.Checked = m.Errors, m.Safety.Checked
	b.Phases, b.Latency = phases(m.Phases, write)
	r.Background = &b
}

// backgroundColumns adds the columns of the background load, if there was one.
func backgroundColumns(s *sheet) {
	if !s.beside() {
		return
	}
	s.figure(column{head: "ops/s", over: "background", space: 3}, func(r Run) (float64, bool) {
		if r.Background == nil {
			return 0, false
		}
		return r.Background.ThroughputPerS, true
	}, Rate)
	s.shown.tails = backgroundTails()
	first := len(s.columns)
	s.tail("", "read", Run.bystanders)
	for i := range s.columns[first:] {
		c := &s.columns[first+i]
		c.head, c.space = "read "+c.head, 2
	}
}

// backgroundTails returns the candidates for the tail percentile of the background's reads. The background
// makes many reads, so p99 comes first.
func backgroundTails() []float64 { return []float64{99, 90, 75} }

// bystanders returns the latency of the background's clients in the phase.
func (r Run) bystanders(phase string) *Distribution {
	if r.Background == nil {
		return nil
	}
	return Run{Latency: r.Background.Latency}.latency(phase)
}

// harm says how much longer the background's reads take beside the naive form than beside the other
// form, if that is known of both.
func harm(naive, calm Run, runs []Run, shown columns) []string {
	shown.tails = backgroundTails()
	e, _, percentile := shown.slowdown(runs, func(r Run) *Distribution { return r.bystanders("read") }, naive, calm)
	ratio := e.Value
	switch {
	case percentile == "":
		return nil
	case ratio >= 1.95:
		return []string{fmt.Sprintf("A read of the background takes %s times longer at its %s.", short(ratio), percentile)}
	case ratio >= 1.05:
		return []string{fmt.Sprintf("A read of the background takes %.0f %% longer at its %s.", 100*(ratio-1), percentile)}
	}
	return []string{fmt.Sprintf("A read of the background takes no longer at its %s.", percentile)}
}

// about describes the background: "background of 16 clients at 5 000/s, 90 % reads".
func (b Background) about() string {
	rate := ""
	if b.RatePerS > 0 {
		rate = " at " + Rate(b.RatePerS) + "/s"
	}
	return fmt.Sprintf("background of %s%s, %s reads", Clients(b.Clients), rate, share(b.ReadRatio.Asked))
}
