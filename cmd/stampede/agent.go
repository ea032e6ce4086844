package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/cmd/stampede/spec"
	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/agents"
	"github.com/stampede-bench/stampede/workloads/agents/control"
)

// agentFlags are the flags of stampede agent.
type agentFlags struct {
	join, token, name string
	patience          time.Duration
	security          spec.Security
}

func (a *app) agentCommand() *cobra.Command {
	var f agentFlags
	cmd := &cobra.Command{
		Use:   "agent --join URL",
		Short: "Run a part of the clients of stampede run, sweep or ab --agents",
		Long: `Agent joins a stampede run, sweep or ab with --agents, on this machine or another, and
runs a part of its clients until that command has ended. It needs no inbound port. It
stops its load within seconds when that command dies or when it is cut off from it.

The command with --agents prints the line that starts an agent. With --control, agents can
be started before it.

If the service under test needs TLS or credentials, that command gives them to its agents,
encrypted. The flags for them here take precedence. With --control they are required, as
no secret is given over a control plane that others can read.`,
		Example: `  stampede agent --join etcd://10.0.0.5:2379/bench --name $(hostname)`,
		Args:    cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.joinRuns(cmd.Context(), f)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.join, "join", "", "`URL` of the control plane: the one that stampede run --agents prints, or its --control")
	flags.StringVar(&f.token, "token", "", "`TOKEN` that stampede run --agents prints; none with --control")
	flags.StringVar(&f.name, "name", "", "`NAME` of this agent in results (default: the host's name and the process number)")
	flags.DurationVar(&f.patience, "connect-timeout", time.Minute, "longest time to wait for the control plane, which may start later")
	f.security.Register(flags)
	for _, name := range []string{"join", "token", "name"} {
		cli.Complete(cmd, name, func() []string { return nil })
	}
	return cmd
}

// joinRuns takes part in the runs of a coordinator until it has no more.
func (a *app) joinRuns(ctx context.Context, f agentFlags) error {
	service, err := f.service()
	if err != nil {
		return err
	}
	if err := cli.CheckDuration("connect-timeout", f.patience, time.Millisecond); err != nil {
		return err
	}
	host, _ := os.Hostname() // it is only shown
	if f.name == "" {
		f.name = fmt.Sprintf("%s-%d", host, os.Getpid())
	}
	if strings.ContainsAny(f.name, "/ \t\r\n") || len(f.name) > 100 {
		return cli.Flagf("name", "%q: want a name without spaces and slashes, of at most 100 characters", f.name)
	}
	security, err := f.ownSecurity()
	if err != nil {
		return err
	}
	plane, err := control.Connect(ctx, service, f.patience)
	if err != nil {
		return interrupted(ctx, err)
	}
	agent := agents.Agent{
		Agent: control.Agent{Name: f.name, Host: host, Version: versionLine(), Processors: metrics.Cores()},
		Plane: plane, Forms: a.forms, Security: security,
		Joined: func() { fmt.Fprintf(a.err, "stampede: agent %s has joined\n", f.name) },
		Runs: func(form string, sessions int) {
			fmt.Fprintf(a.err, "stampede: agent %s runs %s with %s\n", f.name, form, cli.Counted(sessions, "session"))
		},
	}
	err = agent.Run(ctx)
	return errors.Join(interrupted(ctx, err), plane.Close())
}

// ownSecurity returns what the flags say of the service under test.
func (f agentFlags) ownSecurity() (s drivers.Security, err error) {
	if !f.security.Given() {
		return s, nil
	}
	return f.security.Load()
}

func (f agentFlags) service() (drivers.Service, error) {
	if f.join == "" {
		return nil, cli.Flagf("join", "is required: the URL that stampede run --agents prints")
	}
	if f.token == "" {
		return ofJoin(control.Given(f.join))
	}
	token, err := control.ParseToken(f.token)
	if err != nil {
		return nil, cli.OfFlag("token", err)
	}
	return ofJoin(control.Protected(f.join, token))
}

// ofJoin returns the service, or an error of the flag --join.
func ofJoin[S drivers.Service](s S, err error) (drivers.Service, error) {
	if err != nil {
		return nil, cli.OfFlag("join", err)
	}
	return s, nil
}

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
		Patience: max(patience, agents.DefaultPatience),
		Present:  func(names []string) { p.note(awaited(names, f.Count)) },
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

// awaited says how many agents are missing, and which are not.
func awaited(present []string, of int) string {
	if len(present) == 0 {
		return fmt.Sprintf("waiting for %d agents", of)
	}
	return fmt.Sprintf("waiting for %d of %d agents; present: %s", of-len(present), of, strings.Join(present, ", "))
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
		return nil, err
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
