package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stampede-bench/stampede/cmd/stampede/cli"
)

func (a *app) validateCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "validate FILE...",
		Short: "Check scenario files without running them",
		Long: `Validate checks scenario files and prints every error with its line, or the number of
runs that the file describes. It starts nothing, and reads no other files but the
certificates and passwords that the scenario files name.`,
		RunE: func(_ *cobra.Command, files []string) error { return a.validate(files) },
	}
}

func (a *app) validate(files []string) error {
	if len(files) == 0 {
		return cli.Usagef("name the scenario files to check")
	}
	var failed error
	for _, name := range files {
		if err := a.validateFile(name); err != nil {
			failed = a.reported(err)
		}
	}
	return failed
}

func (a *app) validateFile(name string) error {
	file, err := a.parseScenario(name)
	if err != nil {
		return err
	}
	jobs, thresholds, err := a.jobs(file, &pflag.FlagSet{})
	if err != nil {
		return err
	}
	runs := 0
	for _, j := range jobs {
		runs += len(j.Chosen) * len(j.Flags.Clients) * len(j.Sources)
	}
	about := []string{cli.Counted(len(jobs), "scenario"), cli.Counted(runs, "run")}
	if n := len(thresholds); n > 0 {
		about = append(about, cli.Counted(n, "threshold"))
	}
	fmt.Fprintf(a.out, "%s: ok, %s\n", name, strings.Join(about, ", "))
	return nil
}
