package agents

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/openloop"
)

// An assignment is what the coordinator tells all agents of a run.
type assignment struct {
	Number  int    // of the run, from 1
	Service string // URL
	Form    string // such as "lock/predecessor"
	Base    string // of the run's subtree

	Clients, Groups               int
	Settings                      workloads.Settings
	Ramp                          time.Duration
	Warmup, WarmupLimit, Duration time.Duration
	Cold                          bool
	Bin                           time.Duration
	Seed                          uint64

	Rate        string // of arrivals; "" for a closed loop
	Arrival     openloop.Arrival
	LateLimit   time.Duration
	Rounds      int64
	LeastRounds int64
	Limit       time.Duration // of the duration

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
func (a assignment) plan(ctx context.Context, forms []workloads.Form) (workloads.Plan, error) {
	i := slices.IndexFunc(forms, func(f workloads.Form) bool { return f.String() == a.Form })
	if i < 0 {
		return workloads.Plan{}, fmt.Errorf("form %s is unknown here", a.Form)
	}
	target, err := backends.Parse(a.Service)
	if err != nil {
		return workloads.Plan{}, err
	}
	service, err := target.Open(ctx)
	if err != nil {
		return workloads.Plan{}, err
	}
	open := openloop.Options{Arrival: a.Arrival, LateLimit: a.LateLimit}
	if a.Rate != "" {
		if open.Rate, err = openloop.ParseRate(a.Rate); err != nil {
			return workloads.Plan{}, err
		}
	}
	return workloads.Plan{
		Open: open, Rounds: a.Rounds, LeastRounds: a.LeastRounds, DurationLimit: a.Limit,
		Service: service, Form: forms[i], Clients: a.Clients, Groups: a.Groups, Settings: a.Settings,
		Ramp: a.Ramp, Warmup: a.Warmup, WarmupLimit: a.WarmupLimit, Duration: a.Duration, Cold: a.Cold, Seed: a.Seed, Bin: a.Bin,
	}, nil
}

// assign returns the assignment of a plan.
func assign(p workloads.Plan, number int, base string, shares []share) (a assignment, err error) {
	if a.Service, err = backends.Address(p.Service); err != nil {
		return a, err
	}
	a.Number, a.Form, a.Base, a.Shares = number, p.Form.String(), base, shares
	if p.Open.Rate.Open() {
		a.Rate, a.Arrival, a.LateLimit = p.Open.Rate.String(), p.Open.Arrival, p.Open.LateLimit
	}
	a.Rounds, a.LeastRounds, a.Limit = p.Rounds, p.LeastRounds, p.DurationLimit
	a.Clients, a.Groups, a.Settings = p.Clients, p.Groups, p.Settings
	a.Ramp, a.Warmup, a.WarmupLimit, a.Duration, a.Cold, a.Seed, a.Bin = p.Ramp, p.Warmup, p.WarmupLimit, p.Duration, p.Cold, p.Seed, p.Bin
	return a, nil
}

// arrivalsFirst returns how long after the agents have met the window opens because arrivals come before it:
// the warm-up of an open loop.
func (a assignment) arrivalsFirst() time.Duration {
	if a.Rate == "" {
		return 0
	}
	return a.Warmup
}

// names returns the names of the agents that take part.
func (a assignment) names() (all []string) {
	for _, s := range a.Shares {
		all = append(all, s.Agent)
	}
	return all
}

// number returns the number of an agent that takes part.
func (a assignment) number(agent string) int { return slices.Index(a.names(), agent) }

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
