package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/cmd/stampede/spec"
	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
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
			if err := cli.FromEnvironment(cmd.Flags()); err != nil {
				return err
			}
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
