package agents

import (
	"bytes"
	"compress/gzip"
	"encoding/gob"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/agents/clock"
	"github.com/stampede-bench/stampede/workloads/agents/control"
	"github.com/stampede-bench/stampede/workloads/agents/journal"
	"github.com/stampede-bench/stampede/workloads/agents/merge"
	"github.com/stampede-bench/stampede/workloads/check"
	"github.com/stampede-bench/stampede/workloads/divided"
	"github.com/stampede-bench/stampede/workloads/opening"
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
	var packets []journal.AgentJournal
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
		packets = append(packets, journal.AgentJournal{Journal: j, Time: r.Clock.linear(), Error: r.Clock.error()})
		all = append(all, Contribution{f.member(s.Agent), s.Count, nil, m, r.Clock.error(), r.Drift})
	}
	merged, err := merge.Records(parts, p.Form.New(p.Settings).Together())
	if err != nil {
		return nil, nil, err
	}
	for _, d := range merged.Doubts {
		if d.Code == metrics.ServiceLost { // of the agents that found it
			d.Numbers["all_sessions"] = float64(a.sessions())
		}
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

// markLoss says in the merged record that the agent with this share was lost, if it was. The counts then
// lack those of its sessions, so that nothing follows from what they add up to. How evenly clients were
// served says nothing of its clients. Agents with later shares come first.
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

// A report is what an agent hands in of its part of a run.
type report struct {
	Failure string // "" if the part has ended as planned; the rest is there if the part has measured something
	// Lost is why the part ended without its service; nil if it did not.
	Lost *workloads.ServiceLost
	// Sessions says how many the part has opened, and why no more if that has ended it.
	Sessions opening.Shortage
	Record   []byte // as package merge encodes it
	Journal  []byte // as package journal encodes it; nil without one
	Steps    []check.Step
	Faults   metrics.FaultEvents // nothing in a run without faults
	// FaultsBegan is when the window opened for them, on the agent's clock.
	FaultsBegan time.Duration
	Clock       timeline
	Drift       float64 // of the clock, in millionths
}

// measured reports whether the agent has measured something.
func (r report) measured() bool { return r.Record != nil }

func (r report) encode() ([]byte, error) {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	err := errors.Join(gob.NewEncoder(z).Encode(r), z.Close())
	return out.Bytes(), err
}

func decodeReport(text []byte) (r report, err error) {
	z, err := gzip.NewReader(bytes.NewReader(text))
	if err == nil {
		err = gob.NewDecoder(z).Decode(&r)
	}
	return r, err
}

// A timeline says what times of an agent's clock are on the coordinator's clock: at anchors, in ascending
// order, a short time apart.
type timeline []anchor

type anchor struct {
	At               time.Duration // on the agent's clock
	Earliest, Latest time.Duration // on the coordinator's
}

// apart is the time between two anchors.
const apart = 10 * time.Millisecond

// timelineOf returns the anchors from one moment to another.
func timelineOf(e *clock.Estimator, from, to time.Duration) (t timeline, err error) {
	for at := from; ; at += apart {
		i, err := e.Convert(clock.MomentAt(at))
		if err != nil {
			return nil, fmt.Errorf("clock: %w", err)
		}
		t = append(t, anchor{at, i.Earliest.SinceStart(), i.Latest.SinceStart()})
		if at >= to {
			return t, nil
		}
	}
}

// drift is how far a clock can be wrong after the time between two anchors.
const drift = time.Duration(float64(apart) * float64(clock.DefaultMaxDrift) / 1e6)

// bounds returns the bounds of an agent's time on the coordinator's clock: those of the anchor before it,
// widened by the drift since.
func (t timeline) bounds(time time.Duration) (earliest, latest time.Duration) {
	i := min(max(int((time-t[0].At)/apart), 0), len(t)-1)
	a := t[i]
	return a.Earliest + time - a.At - drift, a.Latest + time - a.At + drift
}

// middle returns the estimate of a time of the agent's clock on the coordinator's.
func (t timeline) middle(time time.Duration) time.Duration {
	earliest, latest := t.bounds(time)
	return earliest + (latest-earliest)/2
}

// error returns the largest error of the times in the timeline.
func (t timeline) error() (most time.Duration) {
	for _, a := range t {
		most = max(most, (a.Latest-a.Earliest+1)/2+drift)
	}
	return most
}

// timed returns the steps with the bounds of their times on the coordinator's clock.
func (t timeline) timed(steps []check.Step) (all []check.TimedStep) {
	for _, s := range steps {
		earliest, latest := t.bounds(s.At)
		all = append(all, check.TimedStep{Step: s, Earliest: earliest, Latest: latest})
	}
	return all
}

// linear returns the line through the first and the last anchor, by which times of the agent's clock keep
// their order on the coordinator's.
func (t timeline) linear() func(time.Duration) time.Duration {
	first, last := t[0], t[len(t)-1]
	from, to := t.middle(first.At), t.middle(last.At)
	rate := 1.0
	if last.At > first.At {
		rate = float64(to-from) / float64(last.At-first.At)
	}
	return func(at time.Duration) time.Duration { return from + time.Duration(rate*float64(at-first.At)) }
}
