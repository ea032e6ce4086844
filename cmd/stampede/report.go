package main

import (
	"github.com/spf13/cobra"

	"github.com/stampede-bench/stampede/results/archive"
)

func (a *app) showCommand() *cobra.Command {
	var folder string
	var output []string
	cmd := &cobra.Command{
		Use:   "show [RUN]",
		Short: "Show a saved run again, in any format",
		Long: `Show writes a run that was saved, or a result file, in any format that run itself
could have: nothing is run again. RUN is @ for the last one, which is meant
without it, @-1 for the one before, an id or the beginning of one, or a path.`,
		Example: `  stampede show
  stampede show @-1 -o json=before.json`,
		Args:              oneRun,
		ValidArgsFunction: completeRuns(&folder),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := fromEnvironment(cmd.Flags()); err != nil {
				return err
			}
			return a.show(archive.Folder(folder), append(args, archive.Last)[0], output)
		},
	}
	registerFolder(cmd, &folder)
	registerOutput(cmd, &output)
	return cmd
}

func (a *app) show(folder archive.Folder, name string, output []string) error {
	path, err := folder.Find(name)
	if err != nil {
		return usage(err)
	}
	f, err := archive.Read(path)
	if err != nil {
		return usage(err)
	}
	outs, err := openOutputs(output, a.out)
	if err != nil {
		return err
	}
	defer outs.discard()
	return outs.write(f, path)
}

func oneRun(_ *cobra.Command, args []string) error {
	if len(args) > 1 {
		return usagef("stampede show takes one run, got %q too", args[1])
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
