package agents

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/cluster/faults"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/openloop"
)

// An assignment is what the coordinator tells all agents of a run.
type assignment struct {
	site
	Form string // such as "lock/predecessor"; "" if the run is not assigned

	Clients, Groups               int
	Settings                      workloads.Settings
	SessionTimeout                time.Duration
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

	Background background

	Faults       []string // of clients, which their agents inject
	ServerFaults []string // of servers, which the coordinator injects

	Shares []share // of the agents that take part
}

// A background is the load beside the recipe. Without clients there is none.
type background struct {
	Clients int
	Rate    float64
	Mix     workloads.MixSettings
}

// A share is the part of a run's sessions that one agent has.
type share struct {
	Agent        string
	First, Count int
	Background   extent // the clients of the background
}

// An extent is a contiguous part of some clients.
type extent struct{ First, Count int }

// divide gives each agent a contiguous part of the sessions. The parts differ by at most one.
func divide(sessions int, agents []string) (shares []share) {
	first := 0
	for i, name := range agents {
		count := (sessions - first) / (len(agents) - i)
		shares = append(shares, share{Agent: name, First: first, Count: count})
		first += count
	}
	return slices.DeleteFunc(shares, func(s share) bool { return s.Count == 0 })
}

// divideBackground gives each agent a contiguous part of the background's clients, too.
func divideBackground(shares []share, clients int) {
	first := 0
	for i := range shares {
		shares[i].Background = extent{first, (clients - first) / (len(shares) - i)}
		first += shares[i].Background.Count
	}
}

// shareOf returns the agent's share, and false if it takes no part.
func (a assignment) shareOf(agent string) (share, bool) {
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
	service, err := a.open(ctx, s)
	if err != nil {
		return workloads.Plan{}, err
	}
	open := openloop.Options{Arrival: a.Arrival, LateLimit: a.LateLimit}
	if a.Rate != "" {
		open.Rate, err = openloop.ParseRate(a.Rate)
	}
	schedule, failed := parsed(a.Faults)
	if err = errors.Join(err, failed); err != nil {
		return workloads.Plan{}, errors.Join(err, service.Close())
	}
	return workloads.Plan{
		Faults: schedule, Background: a.background(forms),
		Open: open, Rounds: a.Rounds, LeastRounds: a.LeastRounds, DurationLimit: a.Limit,
		Service: service, Form: forms[i], Clients: a.Clients, Groups: a.Groups, Settings: a.Settings, SessionTimeout: a.SessionTimeout,
		Ramp: a.Ramp, Warmup: a.Warmup, WarmupLimit: a.WarmupLimit, Duration: a.Duration, Cold: a.Cold, Seed: a.Seed, Bin: a.Bin,
	}, nil
}

// parsed returns the faults that were written as texts.
func parsed(texts []string) (all faults.Schedule, err error) {
	for _, text := range texts {
		f, err := faults.Parse(text)
		if err != nil {
			return nil, err
		}
		all = append(all, f)
	}
	return all, nil
}

// written returns the faults as texts.
func written(all faults.Schedule) (texts []string) {
	for _, f := range all {
		texts = append(texts, f.String())
	}
	return texts
}

// sessions returns the number of sessions of all agents.
func (a assignment) sessions() (n int) {
	for _, s := range a.Shares {
		n += s.Count
	}
	return n
}

// background returns the background, of the clients of all agents.
func (a assignment) background(forms []workloads.Form) workloads.Background {
	b := a.Background
	if i := slices.IndexFunc(forms, func(f workloads.Form) bool { return f.Recipe == "mix" }); i >= 0 && b.Clients > 0 {
		return workloads.Background{Clients: b.Clients, Rate: b.Rate, Form: forms[i], Mix: b.Mix}
	}
	return workloads.Background{}
}

// assign returns the assignment of a plan.
func assign(p workloads.Plan, at site, shares []share) (a assignment) {
	a.site, a.Form, a.Shares = at, p.Form.String(), shares
	a.Background = background{p.Background.Clients, p.Background.Rate, p.Background.Mix}
	divideBackground(a.Shares, p.Background.Clients)
	if p.Open.Rate.Open() {
		a.Rate, a.Arrival, a.LateLimit = p.Open.Rate.String(), p.Open.Arrival, p.Open.LateLimit
	}
	a.Rounds, a.LeastRounds, a.Limit = p.Rounds, p.LeastRounds, p.DurationLimit
	a.Clients, a.Groups, a.Settings, a.SessionTimeout = p.Clients, p.Groups, p.Settings, p.SessionTimeout
	a.Ramp, a.Warmup, a.WarmupLimit, a.Duration, a.Cold, a.Seed, a.Bin = p.Ramp, p.Warmup, p.WarmupLimit, p.Duration, p.Cold, p.Seed, p.Bin
	servers, clients := p.Faults.Split()
	a.Faults, a.ServerFaults = written(clients), written(servers)
	return a
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

// The documents and meeting points of a run, besides its site, the reports and those of its engine.
const (
	assigned = "assignment"
	warm     = "warm"   // a meeting point: the clients of all agents are warm
	window   = "window" // when the window opens
	aborted  = "abort"
)

// report names the document with which an agent hands in its part.
func (a assignment) report(agent string) string { return a.document("report-" + agent) }

// inject injects the faults of servers, which this process has started, until the window ends. The agents
// inject those of their clients.
func (r *running) inject(ctx context.Context) {
	servers, _ := r.plan.Faults.Split()
	if len(r.plan.Faults) == 0 {
		return
	}
	opens := r.fleet.clock.TimeAfter(r.opens)
	r.faults.BeginAt(opens)
	if len(servers) == 0 {
		return
	}
	workloads.Sleep(ctx, time.Until(opens))
	ctx, cancel := context.WithDeadline(ctx, opens.Add(r.plan.Duration))
	defer cancel()
	p := r.plan
	p.Faults = servers
	if err := workloads.InjectFaults(ctx, p, r.faults); err != nil {
		r.cancel(fmt.Errorf("coordinator: %w", err))
	}
}

// A claims decides by the control plane which agent injects a fault into the holder.
type claims struct {
	agent *Agent
	site  site
}

// name names the claim of a fault.
func (c claims) name(fault int) string { return c.site.document(fmt.Sprintf("fault-%d", fault)) }

// Claim claims a fault for the agent.
func (c claims) Claim(ctx context.Context, fault int) (bool, error) {
	return c.agent.Plane.Claim(ctx, c.name(fault))
}

// Await returns when an agent has claimed the fault.
func (c claims) Await(ctx context.Context, fault int) error {
	return c.agent.Plane.AwaitClaim(ctx, c.name(fault))
}

// recoveries adds the faults to the merged record, and how the clients of all agents recovered from them.
// Each time of an agent is estimated on the coordinator's clock.
func (r *running) recoveries(merged *metrics.Record, reports map[string]report) {
	if len(r.plan.Faults) == 0 {
		return
	}
	for _, s := range r.work.Shares {
		in, handedIn := reports[s.Agent]
		if !handedIn {
			continue
		}
		r.faults.Add(in.Faults, func(at time.Duration) time.Duration {
			return max(in.Clock.middle(in.FaultsBegan+at)-r.opens, 0)
		})
		merged.FaultsError = max(merged.FaultsError, in.Clock.error())
	}
	merged.Breaks, merged.Recoveries = r.faults.Breaks(), r.faults.Recoveries(merged.Answered())
}
