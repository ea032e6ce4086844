package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/stampede-bench/stampede/gate"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/archive"
)

// defaultBaseline is the default file of the baseline.
const defaultBaseline = ".stampede/baseline.json"

func (a *app) baselineCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "baseline",
		Short: "Keep a run to hold later ones against",
		Args:  noSuchCommand,
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
		Long: `Update makes a run that was saved, or a result file, the baseline, in place of the
one before. It keeps every figure and drops histograms and time lines, and the
same run always gives the same file, so that it can be put under version control.`,
		Example: `  stampede run -f ci && stampede baseline update
  stampede run -f ci --baseline .stampede/baseline.json`,
		Args:              oneResult,
		ValidArgsFunction: completeRuns(&folder),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := fromEnvironment(cmd.Flags()); err != nil {
				return err
			}
			return a.updateBaseline(archive.Folder(folder), append(args, archive.Last)[0], path)
		},
	}
	registerFolder(cmd, &folder)
	registerBaseline(cmd, &path)
	return cmd
}

func (a *app) updateBaseline(folder archive.Folder, name, path string) error {
	from, f, err := find(folder, name)
	switch {
	case err != nil:
		return err
	case len(f.Runs) == 0 || f.Interrupted:
		return usagef("%s is not whole: only a run that went through can be the baseline", from)
	case gate.Found(f.Runs) == results.Violated:
		return usagef("%s: a form broke its promise: its numbers are void, and no baseline", from)
	}
	if err := archive.Write(path, gate.Baseline(f)); err != nil {
		return usagef("--baseline %s: cannot be written: %v", path, bare(err))
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.out, "%s is now %s: %s, %s\n", path, f.ID, counted(len(f.Runs), "run"), results.Bytes(info.Size()))
	return nil
}

func (a *app) baselineShowCommand() *cobra.Command {
	var path string
	var output []string
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Show the baseline, in any format",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := fromEnvironment(cmd.Flags()); err != nil {
				return err
			}
			f, err := readBaseline(path)
			if err != nil {
				return err
			}
			outs, err := openOutputs(output, results.KindRun, a.out)
			if err != nil {
				return err
			}
			defer outs.discard()
			return outs.write(f, path)
		},
	}
	registerBaseline(cmd, &path)
	registerOutput(cmd, &output, results.KindRun)
	return cmd
}
