package main

import (
	"context"

	"github.com/stampede-bench/stampede/cmd/stampede/spec"
	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/noise"
	"github.com/stampede-bench/stampede/workloads"
)

// runOnce measures one run with the flags, the nth of its command, counted from 0. The run has its
// own seed. If the run is interrupted, runOnce returns what was measured until then, or nil if
// nothing was.
func (a *app) runOnce(ctx context.Context, f *spec.Flags, s drivers.Service, form workloads.Form, clients, nth int, observers ...observer) (*results.Run, error) {
	p := f.Plan(s, form, clients, nth)
	a.warm(&p)
	if a.window != nil {
		observers = append(observers, a.waitAtGate(&p))
	}
	setting := f.Recorded(p)
	setting.Ceiling = noise.File(spec.SavedNoise).Ceiling(results.ThisHost(), setting.Backend.Client)
	if a.fleet != nil {
		return a.runOnAgents(ctx, p, setting, observers)
	}
	record, err := a.drive(ctx, observedRun{p, setting}, observers)
	if record == nil {
		return nil, interrupted(ctx, err)
	}
	setting.Expected = spec.Expected(form, p, record)
	run := results.FromRecord(setting, record)
	return &run, err
}
