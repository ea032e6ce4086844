package main

import (
	"cmp"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/cmd/stampede/outputs"
	"github.com/stampede-bench/stampede/cmd/stampede/spec"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/archive"
	"github.com/stampede-bench/stampede/results/gate"
	"github.com/stampede-bench/stampede/results/units"
)

func (a *app) gateCommand() *cobra.Command {
	var folder string
	var output outputs.Flags
	var g spec.Judging
	cmd := &cobra.Command{
		Use:   "gate [RUN]",
		Short: "Judge a saved run by thresholds or against a baseline",
		Long: `Gate judges a saved run, or a result file, by other thresholds or against a baseline;
without either, by the thresholds that it was run with. It runs nothing and does not
change the saved run. RUN is named as for report, and is the last run if it is not
given; the exit codes are those of run.`,
		Example: `  stampede gate --threshold 'predecessor.handoff.p90 < 0.5 * one-node.handoff.p90'
  stampede gate run.json --baseline .stampede/baseline.json`,
		Args:              oneResult,
		ValidArgsFunction: completeRuns(&folder),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.gate(archive.Folder(folder), append(args, lastRun)[0], g, output)
		},
	}
	g.RegisterJudging(cmd)
	spec.RegisterFolder(cmd, &folder)
	output.Register(cmd, results.KindRun)
	return cmd
}

func (a *app) gate(folder archive.Folder, name string, g spec.Judging, output outputs.Flags) error {
	path, f, err := find(folder, name)
	if err != nil {
		return err
	}
	rows := gate.Rows(f.Runs)
	var again []gate.Threshold
	var undone []results.Gate
	if len(g.Thresholds) == 0 {
		if again, undone, err = askedBefore(f, rows); err != nil {
			return cli.Usage(err)
		}
	}
	asked, err := g.Resolve(rows, again)
	if err != nil {
		return err
	}
	if len(asked.Thresholds)+len(undone) == 0 {
		return cli.Usagef("%s was run without thresholds: give --threshold or --baseline", cmp.Or(name, path))
	}
	asked.Judge(&f, undone)
	judged, err := judgedResult(path, &f)
	if err != nil {
		return err
	}
	outs, err := output.Open(results.KindOf(judged), a.out)
	if err != nil {
		return err
	}
	defer outs.Discard()
	if err := outs.Write(judged, path); err != nil {
		return err
	}
	return a.conclude(asked, f, outs)
}

// judgedResult returns the result at the path with the gates and the verdict of the file, as the kind that
// it is. A sweep whose search was undecided has no better verdict than invalid.
func judgedResult(path string, f *results.File) (results.Result, error) {
	read, err := archive.ReadAny(path)
	s, is := read.(results.Sweep)
	if err != nil || !is {
		return *f, err
	}
	if s.Undecided() {
		f.Verdict = results.Worst(f.Verdict, results.Invalid)
	}
	s.Gates, s.Verdict = f.Gates, f.Verdict
	return s, nil
}

// lastRun is the name of the newest saved result that is a run or a sweep.
const lastRun = ""

// find reads a saved run, or a result file.
func find(folder archive.Folder, name string) (path string, f results.File, err error) {
	if name == lastRun {
		path, err = findLastRun(folder)
	} else {
		path, err = folder.Find(name)
	}
	if err != nil {
		return "", f, cli.Usage(err)
	}
	if f, err = archive.Read(path); err != nil {
		return "", f, cli.Usage(err)
	}
	return path, f, nil
}

func findLastRun(folder archive.Folder) (path string, err error) {
	ids, err := folder.IDs()
	if err != nil {
		return "", err
	}
	for _, id := range ids {
		path := folder.Path(id)
		v, err := archive.ReadAny(path)
		if err != nil {
			return "", err
		}
		if kind := results.KindOf(v); kind == results.KindRun || kind == results.KindSweep {
			return path, nil
		}
	}
	return "", fmt.Errorf("no run is saved in %s", folder)
}

// askedBefore returns the thresholds by which a file was judged. It also returns the gates for
// which no run was done, or not the one to compare with; these stay unchanged.
func askedBefore(f results.File, rows []gate.Row) (all []gate.Threshold, undone []results.Gate, err error) {
	for _, g := range f.Gates {
		if g.Run < 0 {
			if g.Figure != "" { // otherwise it says what only the baseline had, which may be another one now
				undone = append(undone, g)
			}
			continue
		}
		if slices.ContainsFunc(all, func(t gate.Threshold) bool { return t.Text == g.Text && t.Scenario == g.Scenario }) {
			continue
		}
		t, err := gate.Parse(g.Text, g.Scenario, rows)
		if err != nil && len(f.Skipped) > 0 { // it refers to what was skipped
			undone = append(undone, g)
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		all = append(all, t)
	}
	return all, undone, nil
}

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
