package divided

import (
	"cmp"
	"fmt"
	"time"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/check"
)

// A Workload can have its clients in several processes.
type Workload interface {
	workloads.Workload
	// Judge returns what only the steps of all clients of one instance show together, such as safety.
	Judge(g Gathered) Findings
}

// A Gathered is what the processes of a run have recorded of the clients of one instance.
type Gathered struct {
	Steps   []check.TimedStep
	Window  check.Window
	Clients int  // of the instance
	Open    bool // the loop is open
}

// Findings are what the steps of all clients of one instance show.
type Findings struct {
	Safety *metrics.Safety      // replaces what the processes found by themselves; nil: add up what they found
	Added  metrics.Safety       // is added to that
	Fanout *metrics.FanoutTimes // of a fan-out; nil: there is none
	Times  []check.Time         // of phases that begin in one process and end in another, besides those of the steps
	// Fairness is how the clients waited; nil: nothing is known. How often each was served is known
	// without steps.
	Fairness *metrics.Fairness
}

// NewWorkload returns a workload that judges divided runs of the form, and false if it has none.
func NewWorkload(f workloads.Form, s workloads.Settings) (Workload, bool) {
	d, ok := f.New(s).(Workload)
	return d, ok
}

// Judge completes the merged record of all processes of a run of the plan with what only the steps of all
// clients show together. The plan's form must be divisible.
func Judge(p workloads.Plan, r *metrics.Record, steps []check.TimedStep, w check.Window) {
	groups := max(p.Groups, 1)
	clients, open := p.Clients/groups, p.Open.Rate.Open()
	var safety, added *metrics.Safety
	var times []check.Time
	var fair metrics.Fairness
	var fanout metrics.FanoutTimes
	hasFanout := false
	for group := range groups {
		d, _ := NewWorkload(p.Form, p.Settings)
		g := Gathered{check.OfGroup(steps, group), w, clients, open}
		f := d.Judge(g)
		times = append(append(times, f.Times...), check.TimesOf(g.Steps, w, open)...)
		if f.Safety != nil {
			safety = withGroup(safety, *f.Safety, group, groups)
		}
		added = withGroup(added, f.Added, group, groups)
		if f.Fanout != nil {
			fanout.Merge(f.Fanout)
		}
		hasFanout = hasFanout || f.Fanout != nil
		if r.Fairness != nil && f.Fairness != nil {
			fair = fair.Add(*f.Fairness)
			r.Fairness.Inversions, r.Fairness.LongestWait = fair.Inversions, fair.LongestWait
		}
	}
	if safety != nil {
		r.Safety = safety.WithDelivery(r.Safety.Delivery)
	}
	r.Safety = workloads.WithBackground(r.Safety.Add(*added, check.MaxDetails), r.Background)
	if hasFanout {
		r.Fanout = fanout.Sum(clients)
	}
	fillJudged(r, times, w)
	r.Warn(p.MissedRate(r)...)
}

// withGroup adds the safety of an instance.
func withGroup(sum *metrics.Safety, one metrics.Safety, group, groups int) *metrics.Safety {
	if groups > 1 {
		for i := range one.Details {
			one.Details[i] = fmt.Sprintf("group %d: %s", group+1, one.Details[i])
		}
	}
	if sum == nil {
		sum = &metrics.Safety{}
	}
	all := sum.Add(one, check.MaxDetails)
	return &all
}

// fillJudged adds the judged times to the phases. Processes record the times that begin and end in one of
// them.
func fillJudged(r *metrics.Record, times []check.Time, w check.Window) {
	for i := range r.Phases {
		p, shared := &r.Phases[i], true // with the record of an agent
		for _, t := range times {
			if t.Phase == p.Name {
				if shared {
					p.Service, p.Response, shared = p.Service.Clone(), p.Response.Clone(), false
				}
				metrics.RecordDuration(p.Service, t.Service)
				metrics.RecordDuration(p.Response, t.Response)
				p.Error = max(p.Error, t.Error)
			}
		}
	}
	if len(r.Phases) > 0 {
		fillIntervals(r, r.Phases[0].Name, times, w)
	}
}

// fillIntervals fills in the percentiles of the recipe's first phase, also of judged times.
func fillIntervals(r *metrics.Record, phase string, times []check.Time, w check.Window) {
	for i := range r.Intervals {
		end := r.Duration
		if i+1 < len(r.Intervals) {
			end = r.Intervals[i+1].Start
		}
		lap := cmp.Or(r.Intervals[i].Times, metrics.NewDurations())
		for _, t := range times {
			if at := t.At - w.Begin; t.Phase == phase && at >= r.Intervals[i].Start && at < end {
				metrics.RecordDuration(lap, t.Response)
			}
		}
		at := func(percentile float64) time.Duration {
			v, _ := metrics.Percentile(lap, percentile)
			return time.Duration(v)
		}
		m := &r.Intervals[i]
		m.P50, m.P90, m.P99, m.Times = at(50), at(90), at(99), nil
	}
}
