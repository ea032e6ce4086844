package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/stampede-bench/stampede/gate"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/archive"
)

func (a *app) gateCommand() *cobra.Command {
	var folder string
	var output []string
	var g gateFlags
	cmd := &cobra.Command{
		Use:   "gate [RUN]",
		Short: "Judge a saved run again",
		Long: `Gate judges a run that was saved, or a result file, by other thresholds or against
a baseline, or again by those that it was run with. Nothing is run again, and the
saved run stays as it is. RUN is as report has it, and the exit code as run has it.`,
		Example: `  stampede gate --threshold 'predecessor.handoff.p99 < 0.5 * one-node.handoff.p99'
  stampede gate run.json --baseline .stampede/baseline.json`,
		Args:              oneResult,
		ValidArgsFunction: completeRuns(&folder),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := fromEnvironment(cmd.Flags()); err != nil {
				return err
			}
			return a.gate(archive.Folder(folder), append(args, archive.Last)[0], g, output)
		},
	}
	g.registerJudging(cmd)
	registerFolder(cmd, &folder)
	registerOutput(cmd, &output, results.KindRun)
	return cmd
}

func (a *app) gate(folder archive.Folder, name string, g gateFlags, output []string) error {
	path, f, err := find(folder, name)
	if err != nil {
		return err
	}
	rows := gate.Rows(f.Runs)
	var again []gate.Threshold
	var undone []results.Gate
	if len(g.thresholds) == 0 {
		if again, undone, err = askedBefore(f, rows); err != nil {
			return usage(err)
		}
	}
	asked, err := g.resolve(rows, again)
	if err != nil {
		return err
	}
	if len(asked.thresholds)+len(undone) == 0 {
		return usagef("%s was run without thresholds: say what to judge it by, with --threshold or --baseline", name)
	}
	outs, err := openOutputs(output, results.KindRun, a.out)
	if err != nil {
		return err
	}
	defer outs.discard()
	asked.judge(&f, undone)
	if err := outs.write(f, path); err != nil {
		return err
	}
	return a.conclude(asked, f, outs)
}

// find reads a saved run, or a result file.
func find(folder archive.Folder, name string) (path string, f results.File, err error) {
	if path, err = folder.Find(name); err != nil {
		return "", f, usage(err)
	}
	if f, err = archive.Read(path); err != nil {
		return "", f, usage(err)
	}
	return path, f, nil
}

// askedBefore returns the thresholds by which a file was judged. It also returns the gates for
// which no run was done; these stay unchanged.
func askedBefore(f results.File, rows []gate.Row) (all []gate.Threshold, undone []results.Gate, err error) {
	for _, g := range f.Gates {
		if g.Run < 0 {
			undone = append(undone, g)
			continue
		}
		if slices.ContainsFunc(all, func(t gate.Threshold) bool { return t.Text == g.Text && t.Scenario == g.Scenario }) {
			continue
		}
		t, err := gate.Parse(g.Text, g.Scenario, rows)
		if err != nil {
			return nil, nil, err
		}
		all = append(all, t)
	}
	return all, undone, nil
}
