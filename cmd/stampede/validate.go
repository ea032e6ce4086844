package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func (a *app) validateCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "validate FILE...",
		Short: "Check scenario files, and start nothing",
		Long: `Validate checks scenario files: it says of each what is wrong with it, all at once
and with the line, or how many runs it asks for. Nothing is started, and nothing
outside the files is looked at but what they name: certificates, passwords.`,
		RunE: func(_ *cobra.Command, files []string) error { return a.validate(files) },
	}
}

func (a *app) validate(files []string) error {
	if len(files) == 0 {
		return usagef("name the scenario files to check")
	}
	var failed error
	for _, name := range files {
		if err := a.validateFile(name); err != nil {
			failed = a.told(err)
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
		runs += len(j.chosen) * len(j.flags.clients) * len(j.sources)
	}
	about := []string{counted(len(jobs), "scenario"), counted(runs, "run")}
	if n := len(thresholds); n > 0 {
		about = append(about, counted(n, "threshold"))
	}
	fmt.Fprintf(a.out, "%s: ok, %s\n", name, strings.Join(about, ", "))
	return nil
}
