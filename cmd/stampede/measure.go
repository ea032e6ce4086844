package main

import (
	"context"
	"slices"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/noise"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/cost"
)

// runOnce measures one run with the flags, the nth of its command, counted from 0. The run has its
// own seed. If the run is interrupted, runOnce returns what was measured until then, or nil if
// nothing was.
func (a *app) runOnce(ctx context.Context, f *runFlags, s drivers.Service, form workloads.Form, clients, nth int, tell func(workloads.Progress)) (*results.Run, error) {
	p := f.runPlan(s, form, clients, nth)
	p.Progress = tell
	a.warm(&p)
	setting := f.setting(p)
	setting.Ceiling = noise.File(savedNoise).Ceiling(results.ThisHost(), setting.Backend.Client)
	record, err := a.drive(ctx, p, setting)
	if record == nil {
		return nil, interrupted(ctx, err)
	}
	setting.Expected = expected(form, p, record)
	run := results.FromRecord(setting, record)
	return &run, err
}

// runPlan returns the plan of the nth run of the command.
func (f *runFlags) runPlan(s drivers.Service, form workloads.Form, clients, nth int) workloads.Plan {
	p := workloads.Plan{
		Service: s, Form: form, Clients: clients, Groups: f.groups,
		Settings: workloads.Settings{Hold: f.hold, Think: f.think, Namespace: f.namespace,
			Readers: f.readers, RevokeEvery: f.revokeEvery, AbortRate: f.abortRate, Queue: f.queue,
			Mix: f.mix.MixSettings},
		Preload: f.mix.preload, Background: f.background.Background,
		Ramp: f.ramp, Warmup: f.warmup, Duration: f.duration, Rounds: f.windowRounds(), Seed: runSeed(f.seed, nth), Open: f.load.open, Bin: f.bin,
		Faults: f.faults.schedule,
	}
	if f.faults.nemesis > 0 {
		p.Faults = append(slices.Clone(p.Faults), p.Nemesis(f.seed, f.faults.nemesis)...)
	}
	if len(p.Faults) == 0 { // faults are scheduled within the requested duration
		p.LeastRounds, p.DurationLimit = leastRounds, f.durationLimit()
	}
	return p
}

// setting returns the plan as the result records it, with every flag that can change a figure.
func (f *runFlags) setting(p workloads.Plan) results.Setting {
	setting := results.Setting{
		Recipe: p.Form.Recipe, Form: p.Form.Name, Family: string(p.Form.Family), Backend: p.Service.Info(), Clients: p.Clients, Groups: f.groups, Seed: p.Seed,
		Open: f.load.setting(), Hold: p.Settings.Hold, Think: p.Settings.Think, Ramp: p.Ramp, Warmup: p.Warmup,
		Reads: f.mix.Reads, Background: f.background.setting(), Faults: lines(p.Faults), Settings: f.settings(p.Form.Recipe),
	}
	if p.Form.Recipe == "mix" {
		setting.Mix = f.mix.setting()
	}
	if p := f.mix.preload; p.Nodes > 0 {
		setting.Preload = &results.Preload{Nodes: p.Nodes, Watches: p.Watches}
	}
	return setting
}

// expected returns the counts that the form must have under any schedule. It returns nil for a
// disturbed run: the counts hold for whole, undisturbed rounds, and a lost reply costs one more
// read.
func expected(form workloads.Form, p workloads.Plan, r *metrics.Record) *results.Expected {
	model, ok := cost.Of(form.Recipe, form.Name)
	if !ok || r.Disturbed {
		return nil
	}
	e := &results.Expected{}
	if v, known := model.NotificationsPerRound(form.Recipe, p.Settings.Params(p.Clients/max(p.Groups, 1))); known {
		e.NotificationsPerRound = &v
	}
	for _, i := range model.Identities {
		left, right, holds := i.Check(r.Whole, r.WholeRounds)
		e.Identities = append(e.Identities, results.Identity{Formula: i.Formula, Left: left, Right: right, Holds: holds})
	}
	return e
}
