package main

import (
	"github.com/spf13/cobra"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/cmd/stampede/outputs"
	"github.com/stampede-bench/stampede/cmd/stampede/spec"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/archive"
)

func (a *app) reportCommand() *cobra.Command {
	var folder string
	var output outputs.Flags
	var percentiles string
	cmd := &cobra.Command{
		Use:     "report [RESULT]",
		Aliases: []string{"show"},
		Short:   "Show a saved result again, in any format",
		Long: `Report writes a saved run, or the file of a run, sweep, count or comparison, in any
format that the command itself supports. It runs nothing. RESULT is @ for the last
run (the default), @-1 for the one before, an id or the beginning of one, or a path.`,
		Example: `  stampede report
  stampede report @-1 -o json=before.json
  stampede report sweep.json -o csv=sweep.csv -o markdown`,
		Args:              oneResult,
		ValidArgsFunction: completeRuns(&folder),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := cli.FromEnvironment(cmd.Flags()); err != nil {
				return err
			}
			return a.reportOn(archive.Folder(folder), append(args, archive.Last)[0], output, percentiles)
		},
	}
	spec.RegisterFolder(cmd, &folder)
	spec.RegisterPercentiles(cmd.Flags(), &percentiles)
	output.Register(cmd, "")
	return cmd
}

func (a *app) reportOn(folder archive.Folder, name string, output outputs.Flags, percentiles string) error {
	shown, err := spec.ParsePercentiles(percentiles)
	if err != nil {
		return err
	}
	path, err := folder.Find(name)
	if err != nil {
		return cli.Usage(err)
	}
	v, err := archive.ReadAny(path)
	if err != nil {
		return cli.Usage(err)
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
			return cli.Flagf("percentiles", "%s: %s is a %s, and only runs and sweeps can show others", percentiles, name, results.KindOf(v))
		}
	}
	outs, err := output.Open(results.KindOf(v), a.out)
	if err != nil {
		return err
	}
	defer outs.Discard()
	return outs.Write(v, path)
}

func oneResult(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return cli.Usagef("stampede %s takes one result, got %q too", cmd.Name(), args[1])
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
