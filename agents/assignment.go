package agents

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/drivers/cluster/faults"
	"github.com/stampede-bench/stampede/workloads"
)

// An assignment is what the coordinator tells all agents of a run.
type assignment struct {
	Number  int    // of the run, from 1
	Service string // URL
	Secured bool   // the service needs TLS or credentials
	Form    string // such as "lock/predecessor"
	Base    string // of the run's subtree

	Clients, Groups               int
	Settings                      workloads.Settings
	Ramp                          time.Duration
	Warmup, WarmupLimit, Duration time.Duration
	Cold                          bool
	Bin                           time.Duration
	Seed                          uint64

	Faulty bool     // faults are injected
	Faults []string // those of clients, which their agents inject

	Shares []share // of the agents that take part
}

// A share is the part of a run's sessions that one agent has.
type share struct {
	Agent        string
	First, Count int
}

// divide gives each agent a contiguous part of the sessions. The parts differ by at most one.
func divide(sessions int, agents []string) (shares []share) {
	first := 0
	for i, name := range agents {
		count := (sessions - first) / (len(agents) - i)
		shares = append(shares, share{name, first, count})
		first += count
	}
	return slices.DeleteFunc(shares, func(s share) bool { return s.Count == 0 })
}

// of returns the agent's share, and false if it takes no part.
func (a assignment) of(agent string) (share, bool) {
	i := slices.IndexFunc(a.Shares, func(s share) bool { return s.Agent == agent })
	if i < 0 {
		return share{}, false
	}
	return a.Shares[i], true
}

// plan opens the service and returns the plan of the larger run. The caller closes the plan's service.
func (a assignment) plan(ctx context.Context, forms []workloads.Form, s drivers.Security) (workloads.Plan, error) {
	i := slices.IndexFunc(forms, func(f workloads.Form) bool { return f.String() == a.Form })
	if i < 0 {
		return workloads.Plan{}, fmt.Errorf("form %s is unknown here", a.Form)
	}
	target, err := backends.Parse(a.Service)
	if err == nil {
		target, err = target.With(backends.Options{Security: s})
	}
	if err != nil {
		return workloads.Plan{}, err
	}
	service, err := target.Open(ctx)
	if err != nil {
		return workloads.Plan{}, err
	}
	schedule, err := a.schedule()
	if err != nil {
		return workloads.Plan{}, errors.Join(err, service.Close())
	}
	return workloads.Plan{
		Faults:  schedule,
		Service: service, Form: forms[i], Clients: a.Clients, Groups: a.Groups, Settings: a.Settings,
		Ramp: a.Ramp, Warmup: a.Warmup, WarmupLimit: a.WarmupLimit, Duration: a.Duration, Cold: a.Cold, Seed: a.Seed, Bin: a.Bin,
	}, nil
}

// schedule returns the faults of clients.
func (a assignment) schedule() (all faults.Schedule, err error) {
	for _, text := range a.Faults {
		f, err := faults.Parse(text)
		if err != nil {
			return nil, err
		}
		all = append(all, f)
	}
	return all, nil
}

// sessions returns the number of sessions of all agents.
func (a assignment) sessions() (n int) {
	for _, s := range a.Shares {
		n += s.Count
	}
	return n
}

// assign returns the assignment of a plan.
func assign(p workloads.Plan, number int, base string, shares []share) (a assignment, err error) {
	if a.Service, err = backends.Address(p.Service); err != nil {
		return a, err
	}
	a.Secured = !backends.Security(p.Service).IsZero()
	a.Number, a.Form, a.Base, a.Shares = number, p.Form.String(), base, shares
	a.Clients, a.Groups, a.Settings = p.Clients, p.Groups, p.Settings
	a.Ramp, a.Warmup, a.WarmupLimit, a.Duration, a.Cold, a.Seed, a.Bin = p.Ramp, p.Warmup, p.WarmupLimit, p.Duration, p.Cold, p.Seed, p.Bin
	_, clients := p.Faults.Split()
	a.Faulty = len(p.Faults) > 0
	for _, f := range clients {
		a.Faults = append(a.Faults, f.String())
	}
	return a, nil
}

// document names a document of the run on the control plane.
func (a assignment) document(name string) string { return fmt.Sprintf("run-%d.%s", a.Number, name) }

// The documents and meeting points of a run, besides the reports and those of its engine.
const (
	assigned = "assignment"
	warm     = "warm"   // a meeting point: the clients of all agents are warm
	window   = "window" // when the window opens
	aborted  = "abort"
)

// report names the document with which an agent hands in its part.
func (a assignment) report(agent string) string { return a.document("report-" + agent) }
