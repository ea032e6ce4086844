package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/workloads"
)

// A cleanFlags holds the flags of stampede clean.
type cleanFlags struct {
	targets
	dryRun bool
}

func (a *app) cleanCommand() *cobra.Command {
	var f cleanFlags
	cmd := &cobra.Command{
		Use:   "clean --backend URL",
		Short: "Remove what killed runs left on a service",
		Long: `Clean removes what runs that were killed left below the namespace of a service
that goes on, and nothing else: nothing that a run made which is still alive, and
nothing that no run made. A run counts as alive until the service has ended its
session, which takes as long as the session time-out after it was killed.`,
		Example: `  stampede clean --backend zookeeper://zk1:2181,zk2:2181/bench --dry-run`,
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := fromEnvironment(cmd.Flags()); err != nil {
				return err
			}
			return a.clean(cmd.Context(), f)
		},
	}
	f.targets.register(cmd, nil)
	cmd.Flags().BoolVarP(&f.dryRun, "dry-run", "n", false, "only tell what would be removed")
	return cmd
}

func (a *app) clean(ctx context.Context, f cleanFlags) error {
	if len(f.backend) == 0 {
		return usagef("name the service to clean with --backend")
	}
	sources, err := f.resolve("")
	if err != nil {
		return err
	}
	for _, s := range sources {
		if !s.given {
			return usagef("--backend %q: it would be started for this, and has nothing to clean: name an address", s.name)
		}
	}
	for _, s := range sources {
		if err := a.cleanOn(ctx, s, f); err != nil {
			return f.explained(s, err)
		}
	}
	return nil
}

func (a *app) cleanOn(ctx context.Context, s source, f cleanFlags) (err error) {
	service, err := s.open(ctx)
	if err != nil {
		return err
	}
	defer func() {
		if e := service.Close(); err == nil {
			err = e
		}
	}()
	conn, err := f.session(ctx, service)
	if err != nil {
		return err
	}
	defer conn.Close()
	found, err := workloads.Clean(ctx, drivers.Steady(conn), f.namespace, f.dryRun)
	a.tellCleaned(s, found, f)
	return err
}

// tellCleaned prints a line for each run and a summary.
func (a *app) tellCleaned(s source, found []workloads.Leftover, f cleanFlags) {
	did := "removed"
	if f.dryRun {
		did = "would remove"
	}
	nodes, runs := 0, 0
	for _, l := range found {
		if l.Alive {
			fmt.Fprintf(a.out, "  %s: left alone, its run is alive or was killed just now\n", l.Path)
			continue
		}
		fmt.Fprintf(a.out, "  %s: %s %s\n", l.Path, did, counted(l.Nodes, "node"))
		nodes += l.Nodes
		runs++
	}
	fmt.Fprintf(a.out, "%s: %s %s of %s below %s\n", s.name, did, counted(nodes, "node"), counted(runs, "killed run"), f.namespace)
}

// counted returns "1 node" or "2 nodes".
func counted(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return results.Count(int64(n)) + " " + noun
}
