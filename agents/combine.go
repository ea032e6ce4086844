package agents

import (
	"bytes"
	"fmt"
	"time"

	"github.com/stampede-bench/stampede/agents/control"
	"github.com/stampede-bench/stampede/agents/journal"
	"github.com/stampede-bench/stampede/agents/merge"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/check"
	"github.com/stampede-bench/stampede/workloads/divided"
)

// A Contribution is what one agent did in a run.
type Contribution struct {
	control.Agent
	Sessions   int
	Record     *metrics.Record // of its own sessions; without what only all clients together show
	ClockError time.Duration   // the largest error of its times on the coordinator's clock
	ClockDrift float64         // how much slower its clock ran than the coordinator's, in millionths
}

// combine makes one record of the agents' reports.
func (f *Fleet) combine(p workloads.Plan, a assignment, reports []report, opens time.Duration) (*metrics.Record, []Contribution, error) {
	var parts []merge.Part
	var packets []journal.Part
	var steps []check.TimedStep
	var all []Contribution
	for i, r := range reports {
		s := a.Shares[i]
		m, err := merge.Unmarshal(r.Record)
		if err != nil {
			return nil, nil, fmt.Errorf("agent %s: %w", s.Agent, err)
		}
		j, err := journal.Read(bytes.NewReader(r.Journal))
		if err != nil {
			return nil, nil, fmt.Errorf("agent %s: %w", s.Agent, err)
		}
		parts, steps = append(parts, merge.Part{Agent: s.Agent, Record: m}), append(steps, r.Clock.timed(r.Steps)...)
		packets = append(packets, journal.Part{Journal: j, Time: r.Clock.linear(), Error: r.Clock.error()})
		all = append(all, Contribution{f.member(s.Agent), s.Count, m, r.Clock.error(), r.Drift})
	}
	merged, err := merge.Records(parts, p.Form.New(p.Settings).Together())
	if err != nil {
		return nil, nil, err
	}
	w := check.Window{Begin: opens, End: opens + merged.Duration}
	if notifies(p) {
		if merged.Herd, err = journal.Replay(packets, journal.Window{Begin: w.Begin, End: w.End, Bin: p.Bin}); err != nil {
			return nil, nil, err
		}
	}
	divided.Judge(p, merged, steps, w)
	return merged, all, merged.Identities()
}
