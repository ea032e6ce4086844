package main

import (
	"fmt"
	"os"

	"github.com/stampede-bench/stampede/results/units"

	"github.com/spf13/cobra"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/cmd/stampede/outputs"
	"github.com/stampede-bench/stampede/cmd/stampede/spec"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/archive"
	"github.com/stampede-bench/stampede/results/gate"
)

// defaultBaseline is the default file of the baseline.
const defaultBaseline = ".stampede/baseline.json"

func (a *app) baselineCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "baseline",
		Short: "Show or replace the baseline that later runs are compared with",
		Args:  cli.NoSuchCommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.baselineUpdateCommand(), a.baselineShowCommand())
	return cmd
}

func registerBaseline(cmd *cobra.Command, path *string) {
	cmd.Flags().StringVar(path, "baseline", defaultBaseline, "`FILE` of the baseline")
}

func (a *app) baselineUpdateCommand() *cobra.Command {
	var folder, path string
	cmd := &cobra.Command{
		Use:   "update [RUN]",
		Short: "Make a saved run the baseline",
		Long: `Update makes a saved run, or a result file, the baseline, and replaces the previous one. It keeps every figure and drops histograms and time lines, and the
same run always gives the same file, so that it can be put under version control.`,
		Example: `  stampede run -f ci && stampede baseline update
  stampede run -f ci --baseline .stampede/baseline.json`,
		Args:              oneResult,
		ValidArgsFunction: completeRuns(&folder),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := cli.FromEnvironment(cmd.Flags()); err != nil {
				return err
			}
			return a.updateBaseline(archive.Folder(folder), append(args, lastRun)[0], path)
		},
	}
	spec.RegisterFolder(cmd, &folder)
	registerBaseline(cmd, &path)
	return cmd
}

func (a *app) updateBaseline(folder archive.Folder, name, path string) error {
	from, f, err := find(folder, name)
	switch {
	case err != nil:
		return err
	case len(f.Runs) == 0 || f.Interrupted:
		return cli.Usagef("%s is incomplete: only a complete run can be the baseline", from)
	case results.Unsafe(f.Runs):
		return cli.Usagef("%s: safety violation: its numbers are void, so it cannot be the baseline", from)
	}
	if err := archive.Write(path, gate.Baseline(f)); err != nil {
		return cli.Flagf("baseline", "%s: cannot be written: %v", path, cli.WithoutPath(err))
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.out, "%s is now %s: %s, %s\n", path, f.ID, cli.Counted(len(f.Runs), "run"), units.Bytes(info.Size()))
	return nil
}

func (a *app) baselineShowCommand() *cobra.Command {
	var path string
	var output outputs.Flags
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Show the baseline, in any format",
		Args:  cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := cli.FromEnvironment(cmd.Flags()); err != nil {
				return err
			}
			f, err := spec.ReadBaseline(path)
			if err != nil {
				return err
			}
			outs, err := output.Open(results.KindRun, a.out)
			if err != nil {
				return err
			}
			defer outs.Discard()
			return outs.Write(f, path)
		},
	}
	registerBaseline(cmd, &path)
	output.Register(cmd, results.KindRun)
	return cmd
}
