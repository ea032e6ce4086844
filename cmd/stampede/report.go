package main

import (
	"github.com/spf13/cobra"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/archive"
)

func (a *app) reportCommand() *cobra.Command {
	var folder string
	var output []string
	var percentiles string
	cmd := &cobra.Command{
		Use:     "report [RESULT]",
		Aliases: []string{"show"},
		Short:   "Show a saved result again, in any format",
		Long: `Report writes a run that was saved, or the file of a run, sweep, count or
comparison, in any format that the command itself could have: nothing is run again.
RESULT is @ for the last run, which is meant without it, @-1 for the one before, an
id or the beginning of one, or a path.`,
		Example: `  stampede report
  stampede report @-1 -o json=before.json
  stampede report sweep.json -o csv=sweep.csv -o markdown`,
		Args:              oneResult,
		ValidArgsFunction: completeRuns(&folder),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := fromEnvironment(cmd.Flags()); err != nil {
				return err
			}
			return a.reportOn(archive.Folder(folder), append(args, archive.Last)[0], output, percentiles)
		},
	}
	registerFolder(cmd, &folder)
	registerPercentiles(cmd.Flags(), &percentiles)
	registerOutput(cmd, &output, "")
	return cmd
}

func (a *app) reportOn(folder archive.Folder, name string, output []string, percentiles string) error {
	shown, err := parsePercentiles(percentiles)
	if err != nil {
		return err
	}
	path, err := folder.Find(name)
	if err != nil {
		return usage(err)
	}
	v, err := archive.ReadAny(path)
	if err != nil {
		return usage(err)
	}
	if shown != nil {
		switch file := v.(type) {
		case results.File:
			file.Percentiles = shown
			v = file
		case results.Sweep:
			file.Percentiles = shown
			v = file
		default:
			return usagef("--percentiles %s: %s is a %s, and only runs and sweeps can show others", percentiles, name, results.KindOf(v))
		}
	}
	outs, err := openOutputs(output, results.KindOf(v), a.out)
	if err != nil {
		return err
	}
	defer outs.discard()
	return outs.write(v, path)
}

func oneResult(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return usagef("stampede %s takes one result, got %q too", cmd.Name(), args[1])
	}
	return nil
}

// completeRuns suggests the ids of the saved runs.
func completeRuns(folder *string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		ids, err := archive.Folder(*folder).IDs()
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		return append([]string{archive.Last}, ids...), cobra.ShellCompDirectiveDefault
	}
}
