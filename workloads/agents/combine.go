package agents

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/agents/control"
	"github.com/stampede-bench/stampede/workloads/agents/journal"
	"github.com/stampede-bench/stampede/workloads/agents/merge"
	"github.com/stampede-bench/stampede/workloads/check"
	"github.com/stampede-bench/stampede/workloads/divided"
)

// A Contribution is what one agent did in a run.
type Contribution struct {
	control.Agent
	Sessions   int
	Lost       *Loss           // nil if it has handed in its part; otherwise the fields below are not known
	Record     *metrics.Record // of its own sessions; without what only all clients together show
	ClockError time.Duration   // the largest error of its times on the coordinator's clock
	ClockDrift float64         // how much slower its clock ran than the coordinator's, in millionths
}

// combine makes one record of the agents' reports. What the lost agents' sessions did is in no count of it.
func (f *Fleet) combine(p workloads.Plan, a assignment, reports map[string]report, lost map[string]Loss, opens time.Duration) (*metrics.Record, []Contribution, error) {
	var parts []merge.Part
	var packets []journal.Part
	var steps []check.TimedStep
	var all []Contribution
	for _, s := range a.Shares {
		if l, is := lost[s.Agent]; is {
			all = append(all, Contribution{Agent: f.member(s.Agent), Sessions: s.Count, Lost: &l})
			continue
		}
		r := reports[s.Agent]
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
		all = append(all, Contribution{f.member(s.Agent), s.Count, nil, m, r.Clock.error(), r.Drift})
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
	for i, c := range slices.Backward(all) {
		c.markLoss(merged, a.Shares[i])
	}
	return merged, all, merged.Identities()
}

// markLoss says in the merged record that the agent with this share was lost, if it was. The counts then lack
// those of its sessions, so that nothing follows from what they add up to. How evenly clients were served says
// nothing of its clients. Agents with later shares come first.
func (c Contribution) markLoss(merged *metrics.Record, s share) {
	if c.Lost == nil {
		return
	}
	merged.Disturbed = true
	if f := merged.Fairness; f != nil && s.First+s.Count <= len(f.Served) {
		f.Served = slices.Delete(f.Served, s.First, s.First+s.Count)
	}
	merged.Doubt(metrics.Warning{Code: metrics.AgentLost, Names: metrics.Names{metrics.OfAgent: c.Name}, Numbers: metrics.Numbers{
		"sessions": float64(c.Sessions), "noticed_ns": float64(c.Lost.Noticed), "rounds": float64(c.Lost.Rounds)}})
}
