package main

import (
	"context"
	"slices"

	"github.com/stampede-bench/stampede/dashboards/live"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/metrics/export"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/workloads"
)

// An observer follows runs in progress: as metrics, on the live page, as a line of progress, or to
// check abort conditions. It leaves out the functions that it does not need.
type observer struct {
	expect   func(next []results.Setting) // the runs that come next
	begin    func(observedRun, *workloads.Live)
	progress func(workloads.Progress)
	end      func(observedRun, *metrics.Record) // not called for a run that measured nothing
}

// An observedRun is a run as its observers see it: its plan, and what its result records of that.
type observedRun struct {
	plan    workloads.Plan
	setting results.Setting
}

// drive executes the plan while the command's observers, and those of this run, follow it.
func (a *app) drive(ctx context.Context, run observedRun, ofRun []observer) (*metrics.Record, error) {
	all, p := slices.Concat(a.observers, ofRun), run.plan
	p.Progress = progressOf(all)
	if slices.ContainsFunc(all, func(o observer) bool { return o.begin != nil }) {
		p.Watch = func(l *workloads.Live) {
			for _, o := range all {
				if o.begin != nil {
					o.begin(run, l)
				}
			}
		}
	}
	record, err := workloads.Run(ctx, p)
	for _, o := range all {
		if o.end != nil && record != nil {
			o.end(run, record)
		}
	}
	return record, err
}

// progressOf returns what reports the progress of a run to the observers.
func progressOf(all []observer) func(workloads.Progress) {
	return func(now workloads.Progress) {
		for _, o := range all {
			if o.progress != nil {
				o.progress(now)
			}
		}
	}
}

// exporting returns the observer that exports runs as metrics.
func exporting(c *export.Collector) observer {
	return observer{
		begin: func(run observedRun, l *workloads.Live) { c.Begin(exported(run), l) },
		end:   func(run observedRun, r *metrics.Record) { c.End(exported(run), *r) },
	}
}

// exported returns the labels of a run's metrics.
func exported(run observedRun) export.Run {
	s := run.setting
	labels := export.Run{Recipe: s.Recipe, Form: s.Form, Family: s.Family, Backend: s.Backend.Name, Clients: s.Clients}
	if rate := run.plan.Open.Rate; rate.Open() {
		labels.Rate = rate.String() + "/s"
	}
	return labels
}

// showing returns the observer that shows runs on a page.
func showing(page *live.Page) observer {
	shown := func(run observedRun) live.Run {
		return live.Run{Setting: run.setting, Duration: run.plan.Duration, Rounds: run.plan.Rounds}
	}
	return observer{
		expect: func(next []results.Setting) {
			var runs []live.Run
			for _, s := range next {
				runs = append(runs, live.Run{Setting: s})
			}
			page.Expect(runs...)
		},
		begin: func(run observedRun, l *workloads.Live) { page.Begin(shown(run), l) },
		end:   func(run observedRun, r *metrics.Record) { page.End(shown(run), *r) },
	}
}
