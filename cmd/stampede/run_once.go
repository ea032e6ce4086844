package main

import (
	"context"
	"time"

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

const (
	// warmUpRuns bounds the warm-up to this many times --warmup while throughput is not steady.
	warmUpRuns = 5
	// coldLimit is the same bound for the first run on a server that the command has just started.
	coldLimit = 15 * time.Second
)

// warm sets how long a run may warm up until its throughput is steady. The first run on a server
// that has just been started may take longer, except on the native server, which is compiled ahead
// of time and has less to warm up.
func (a *app) warm(p *workloads.Plan) {
	i := p.Service.Info()
	p.WarmupLimit = warmUpRuns * p.Warmup
	if p.Cold = !a.used[p.Service] && i.Started != "" && i.Name != "native"; p.Cold && p.Warmup > 0 {
		p.WarmupLimit = max(p.WarmupLimit, coldLimit)
	}
	if a.used == nil {
		a.used = make(map[drivers.Service]bool)
	}
	a.used[p.Service] = true
}
