package spec

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/costmodel"
)

// Plan returns the plan of the nth run of the command.
func (f *Flags) Plan(s drivers.Service, form workloads.Form, clients, nth int) workloads.Plan {
	p := f.draft(form, clients)
	p.Service, p.Seed = form.ServiceFor(s), RunSeed(f.Seed, nth)
	p.SessionTimeout = cmp.Or(p.SessionTimeout, backends.SessionTimeout(p.Service))
	if f.faults.nemesis > 0 {
		p.Faults = append(slices.Clone(p.Faults), p.Nemesis(f.Seed, f.faults.nemesis)...)
	}
	if len(p.Faults) == 0 { // faults are scheduled within the requested duration
		p.LeastRounds, p.DurationLimit = LeastRounds, f.durationLimit()
	}
	return p
}

// draft returns what a plan says before its service is known.
func (f *Flags) draft(form workloads.Form, clients int) workloads.Plan {
	p := f.Run
	p.Form, p.Clients, p.Rounds = form, clients, f.WindowRounds()
	p.Settings.Namespace, p.Settings.Readers, p.Settings.Mix = f.Namespace, f.Readers, f.Mix.MixSettings
	p.Settings.ConnectTimeout = f.ConnectTimeout
	p.Preload, p.Background, p.Open, p.Faults = f.Mix.preload, f.background.Background, f.Load.open, f.faults.schedule
	return p
}

// Recorded returns the plan as the result records it, with every flag that can change a figure.
func (f *Flags) Recorded(p workloads.Plan) results.Setting { return f.recorded(p, p.Service.Info()) }

// recorded is Recorded for a service that is described like this.
func (f *Flags) recorded(p workloads.Plan, service drivers.Info) results.Setting {
	setting := results.Setting{
		Recipe: p.Form.Recipe, Form: p.Form.Name, Family: string(p.Form.Family), Backend: service, Clients: p.Clients, Groups: p.Groups, Seed: p.Seed,
		Open: f.Load.setting(), Hold: p.Settings.Hold, Think: p.Settings.Think, Ramp: p.Ramp, Warmup: p.Warmup,
		Reads: f.Mix.Reads, Background: f.background.setting(), Faults: lines(p.Faults), Settings: f.settings(p.Form.Recipe), Without: p.Lacks(f.faults.any()),
	}
	setting.Settings[TimeoutFlag] = p.SessionTimeout.String() // the URL may name it too
	if p.Form.Recipe == "mix" {
		setting.Mix = f.Mix.setting()
	}
	if p := f.Mix.preload; p.Nodes > 0 {
		setting.Preload = &results.Preload{Nodes: p.Nodes, Watches: p.Watches}
	}
	return setting
}

// Expected returns the counts that the form must have under any schedule. It returns nil for a
// disturbed run: the counts hold for whole, undisturbed rounds, and a lost reply costs one more
// read. If an agent was lost, the identities are invalid.
func Expected(form workloads.Form, p workloads.Plan, r *metrics.Record) *results.Expected {
	model, ok := costmodel.ModelOf(form.Recipe, form.Name)
	if ok && slices.ContainsFunc(r.Doubts, func(w metrics.Warning) bool { return w.Code == metrics.AgentLost }) {
		return &results.Expected{Identities: []results.Identity{}, Invalid: metrics.AgentLost}
	}
	if !ok || r.Disturbed {
		return nil
	}
	e := &results.Expected{}
	if v, known := model.NotificationsPerRound(form.Recipe, p.Settings.Params(p.Clients/max(p.Groups, 1))); known {
		e.NotificationsPerRound = &v
	}
	for _, i := range model.Identities {
		if i.Bounds() && p.ReadsLag() {
			continue
		}
		left, right, holds := i.Check(r.Whole, r.WholeRounds, int64(p.Clients/max(p.Groups, 1)))
		identity := results.Identity{Formula: i.Formula, Left: left, Right: right, Holds: holds}
		if count := i.Fixes(); count != "" {
			identity.Fixes = "whole." + count + "_per_round"
		}
		e.Identities = append(e.Identities, identity)
	}
	return e
}

// durationLimit returns how long a run may be extended while too few rounds have ended.
func (f *Flags) durationLimit() time.Duration {
	return max(f.Run.Duration, min(extendedBy*f.Run.Duration, extendedTo))
}

// LeastRounds is enough for the medians of all phases that have an observation in nearly every
// round. A run lasts until that many rounds have ended, up to extendedBy times --duration, and no
// longer than extendedTo.
const (
	LeastRounds = 3 * metrics.Beyond
	extendedBy  = 10
	extendedTo  = 30 * time.Second
)

// DrawSeed draws the command's seed unless one is given.
func (f *Flags) DrawSeed() {
	if f.Seed == 0 {
		f.Seed = rand.Uint64N(1 << 32)
	}
}

// seedBits is the number of bits of an integer that every JSON reader preserves.
const seedBits = 53

// RunSeed returns the seed of a command's nth run, counted from 0. The command's seed and the run's
// place in the result determine it. Each run has its own seed, so that repetitions have different
// arrivals.
func RunSeed(command uint64, nth int) uint64 {
	return rand.NewPCG(command, uint64(nth)).Uint64() >> (64 - seedBits)
}
