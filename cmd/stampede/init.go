package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/internal/suggest"
	"github.com/stampede-bench/stampede/workloads/scenario"
)

func (a *app) initCommand() *cobra.Command {
	var from string
	cmd := &cobra.Command{
		Use:   "init [FILE]",
		Short: "Write a scenario file to start from",
		Long: `Init writes a scenario file, with comments that explain every setting, to
scenario.yaml or another new file. With --from it copies one of the scenario files
that come with stampede.`,
		Example: `  stampede init
  stampede init mine.yaml --from quick`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := cli.FromEnvironment(cmd.Flags()); err != nil {
				return err
			}
			return a.init(args, from)
		},
	}
	cmd.Flags().StringVar(&from, "from", "", "`NAME` of a scenario file that comes with stampede")
	cli.Complete(cmd, "from", scenario.Names)
	return cmd
}

func (a *app) init(args []string, from string) error {
	if len(args) > 1 {
		return cli.Usagef("stampede init writes one file, got %q too", args[1])
	}
	text := scenario.Template()
	if from != "" {
		var ok bool
		if text, ok = scenario.Shipped(from); !ok {
			return cli.Usage(suggest.Unknown("scenario", from, scenario.Names()))
		}
	}
	path := append(args, "scenario.yaml")[0]
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return cli.Usagef("%s: cannot be written: %v: name another file", path, cli.WithoutPath(err))
	}
	if _, err := file.Write(text); err != nil {
		file.Close()
		return err
	}
	fmt.Fprintf(a.out, "wrote %s: try stampede run -f %s\n", path, path)
	return file.Close()
}
