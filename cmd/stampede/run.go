package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/cmd/stampede/spec"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/workloads/catalog"
	"github.com/stampede-bench/stampede/workloads/scenario"
)

func (a *app) runCommand() *cobra.Command {
	var f spec.Flags
	cmd := &cobra.Command{
		Use:   "run [RECIPE... | -f SCENARIO]",
		Short: "Run recipes under load and show what each form costs",
		Long: `Run runs a recipe with many clients, in each of the chosen forms one after the other,
shows them side by side, and checks safety in the same run. Without arguments it runs
the lock in its herd-avoiding and its naive form on a server that it starts, in about
20 seconds.

A mix is a load of plain reads and writes. By itself (run mix) it measures the
service; as a background of a recipe (--background) it shows what a herd does to
clients that take no part in it.

With -f it runs a scenario file, your own or one that comes with stampede, and writes
one result. Flags on the command line take precedence over the file.`,
		Example: `  stampede run
  stampede run lock --form all --clients 2,8,64 --hold 0
  stampede run lock --backend native: --backend zookeeper:
  stampede run mix --reads 0.5 --size 100 --clients 8,64
  stampede run lock --background reads=0.9,rate=1000
  stampede run lock --backend zookeeper://zk1:2181,zk2:2181/bench -o table -o json=lock.json
  stampede run -f quick`,
		ValidArgsFunction: a.completeRecipes,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := cli.FromEnvironment(cmd.Flags()); err != nil {
				return err
			}
			if f.File != "" {
				return a.runFile(cmd, args, f)
			}
			return a.run(cmd.Context(), args, f)
		},
	}
	f.Register(a.forms, cmd)
	cmd.Flags().StringVarP(&f.File, "file", "f", "", "scenario `FILE`, or the name of one in stampede list")
	cli.Must(cmd.RegisterFlagCompletionFunc("file", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return scenario.Names(), cobra.ShellCompDirectiveDefault // scenario files are files too
	}))
	return cmd
}

func (a *app) run(ctx context.Context, recipes []string, f spec.Flags) error {
	f.DrawSeed()
	j, err := spec.NewJob(a.forms, recipes, f)
	if err != nil {
		return err
	}
	if err := spec.CheckUsed(f.Security.Flags, j.Chosen); err != nil {
		return err
	}
	asked, err := f.Judging.Resolve(spec.RowsOf([]spec.Job{j}), nil)
	if err != nil {
		return err
	}
	about := spec.ChosenRecipes(j.Chosen)
	return a.perform(ctx, f, results.New(tool(), j.Flags.Command(about), about, f.Seed), []spec.Job{j}, asked)
}

func (a *app) completeRecipes(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return append(catalog.Recipes(a.forms), catalog.All), cobra.ShellCompDirectiveNoFileComp
}
