package main

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/cmd/stampede/spec"
	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/workloads/namespace"
)

// A cleanFlags holds the flags of stampede clean.
type cleanFlags struct {
	spec.Targets
	dryRun bool
}

func (a *app) cleanCommand() *cobra.Command {
	var f cleanFlags
	cmd := &cobra.Command{
		Use:   "clean --backend URL",
		Short: "Remove the nodes that killed runs left on a service",
		Long: `Clean removes the nodes that killed runs left below the namespace of a running
service. It leaves the nodes of active runs and nodes that no run created. A run
counts as active until the service has ended its session, which happens one session
time-out after the run was killed.`,
		Example: `  stampede clean --backend zookeeper://zk1:2181,zk2:2181/bench --dry-run`,
		Args:    cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.clean(cmd.Context(), f)
		},
	}
	f.Targets.Register(cmd, nil)
	cmd.Flags().BoolVarP(&f.dryRun, "dry-run", "n", false, "print what would be removed, and remove nothing")
	return cmd
}

func (a *app) clean(ctx context.Context, f cleanFlags) error {
	if len(f.Backend) == 0 {
		return cli.Usagef("name the service to clean with --backend")
	}
	sources, err := f.Resolve("")
	if err != nil {
		return err
	}
	for _, s := range sources {
		if !s.Given {
			return cli.Flagf("backend", "%q: it would be started for this command and has nothing to clean: name an address", s.Name)
		}
	}
	for _, s := range sources {
		if err := a.cleanOn(ctx, s, f); err != nil {
			return f.Explained(s, err)
		}
	}
	return nil
}

func (a *app) cleanOn(ctx context.Context, s spec.Source, f cleanFlags) (err error) {
	service, err := s.Open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, service.Close()) }()
	o := drivers.Options{NoEphemerals: true}
	if err := drivers.Together(ctx, service, o); err != nil { // one would be found clean for another
		return err
	}
	conn, err := session(ctx, service, f.ConnectTimeout, o)
	if err != nil {
		return err
	}
	defer conn.Close()
	found, err := namespace.Clean(ctx, drivers.Steady(conn), f.Namespace, f.dryRun)
	a.printCleaned(s, found, f)
	return err
}

// printCleaned prints a line for each run and a summary.
func (a *app) printCleaned(s spec.Source, found []namespace.Leftover, f cleanFlags) {
	did := "removed"
	if f.dryRun {
		did = "would remove"
	}
	nodes, runs := 0, 0
	for _, l := range found {
		if l.Alive {
			fmt.Fprintf(a.out, "  %s: not removed: its run is active, or was killed less than a session time-out ago\n", l.Path)
			continue
		}
		fmt.Fprintf(a.out, "  %s: %s %s\n", l.Path, did, cli.Counted(l.Nodes, "node"))
		nodes += l.Nodes
		runs++
	}
	fmt.Fprintf(a.out, "%s: %s %s of %s below %s\n", s.Name, did, cli.Counted(nodes, "node"), cli.Counted(runs, "killed run"), f.Namespace)
}
