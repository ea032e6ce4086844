package main

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/cmd/stampede/spec"
	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/agents"
	"github.com/stampede-bench/stampede/workloads/agents/control"
)

// gather waits for the agents, if runs are to be divided among some. The returned function dismisses
// them.
func (a *app) gather(ctx context.Context, f spec.Agents, patience time.Duration, p *progress) (dismiss func() error, err error) {
	if f.Count == 0 {
		return func() error { return nil }, nil
	}
	host, _, err := net.SplitHostPort(f.Listen)
	if err != nil || host == "" || net.ParseIP(host).IsUnspecified() {
		return nil, cli.Flagf("control-listen", "%s: want the HOST:PORT of this machine by which agents reach it", f.Listen)
	}
	service, end, err := a.controlPlane(ctx, f)
	if err != nil {
		return nil, err
	}
	plane, err := control.Connect(ctx, service, patience)
	if err != nil {
		end()
		return nil, interrupted(ctx, err)
	}
	a.fleet, err = agents.Gather(ctx, plane, agents.Options{
		Agents: f.Count, Continue: f.OnLoss == spec.Continue, Version: versionLine(), Address: f.Listen,
		Present: func(n int) { p.note("waiting for agents: %d of %d", n, f.Count) },
	})
	if err != nil {
		end()
		return nil, interrupted(ctx, err)
	}
	p.cores = a.fleet.Processors()
	return func() error {
		defer end()
		return a.fleet.Close()
	}, nil
}

// controlPlane returns the given control plane, or runs one and prints how agents join. end ends the
// latter.
func (a *app) controlPlane(ctx context.Context, f spec.Agents) (_ drivers.Service, end func() error, err error) {
	if f.Control != "" {
		s, err := control.Given(f.Control)
		if err != nil {
			return nil, nil, cli.OfFlag("control", err)
		}
		return s, func() error { return nil }, nil
	}
	m, err := control.Start(ctx, f.Listen)
	if err != nil {
		return nil, nil, err
	}
	fmt.Fprintf(a.err, "stampede: start %s, each with:\n  stampede agent --join %s --token %s\n", cli.Counted(f.Count, "agent"), m.URL(), m.Token())
	s, err := control.Protected(m.URL(), m.Token())
	if err != nil {
		m.Close()
	}
	return s, m.Close, err
}

// runOnAgents measures one run whose clients the agents have. The ceiling of this process's generator
// says nothing about it.
func (a *app) runOnAgents(ctx context.Context, p workloads.Plan, s results.Setting, observers []observer) (*results.Run, error) {
	p.Progress = progressOf(observers)
	record, parts, err := a.fleet.Run(ctx, p)
	if record == nil {
		return nil, interrupted(ctx, err)
	}
	s.Ceiling, s.Expected = 0, spec.Expected(p.Form, p, record)
	run := results.FromRecord(s, record)
	for _, c := range parts {
		run.Agents = append(run.Agents, agentOf(c))
	}
	return &run, err
}

// agentOf returns an agent's part in a run as the result has it.
func agentOf(c agents.Contribution) results.Agent {
	a := results.Agent{Name: c.Name, Host: c.Host, Processors: c.Processors, Sessions: c.Sessions}
	if l := c.Lost; l != nil {
		a.Lost = &results.AgentLoss{NoticedNS: l.Noticed, LastHeardNS: l.Heard, Rounds: l.Rounds}
		return a
	}
	a.Generator, a.ClockErrorNS, a.ClockDriftPPM = results.GeneratorOf(c.Record), c.ClockError, c.ClockDrift
	return a
}
