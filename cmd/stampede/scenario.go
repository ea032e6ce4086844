package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/cmd/stampede/spec"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/gate"
	"github.com/stampede-bench/stampede/workloads/catalog"
	"github.com/stampede-bench/stampede/workloads/scenario"
)

// runFile runs a scenario file; flags that were given take precedence over it.
func (a *app) runFile(cmd *cobra.Command, recipes []string, f spec.Flags) error {
	if len(recipes) > 0 {
		return cli.Usagef("-f %s: the file names the recipes: leave out %q", f.File, recipes[0])
	}
	file, err := a.parseScenario(f.File)
	if err != nil {
		return a.reported(err)
	}
	jobs, written, err := a.jobs(file, cmd.Flags())
	if err != nil {
		return a.reported(err)
	}
	if err := takeAgents(&f, file, jobs); err != nil {
		return a.reported(err)
	}
	var chosen []catalog.Choice
	for _, j := range jobs {
		chosen = append(chosen, j.Chosen...)
	}
	if err := spec.CheckUsed(cmd.Flags(), chosen); err != nil {
		return err
	}
	asked, err := f.Judging.Resolve(spec.RowsOf(jobs), written)
	if err != nil {
		return err
	}
	if !cli.WasGiven(cmd.Flags().Lookup("seed")) && file.Seed != "" {
		f.Seed, _ = strconv.ParseUint(file.Seed, 10, 64) // validated by the parser
	}
	f.DrawSeed()
	for i := range jobs {
		jobs[i].Flags.Seed, jobs[i].Flags.Quiet = f.Seed, f.Quiet
	}
	name := strings.TrimSuffix(filepath.Base(f.File), filepath.Ext(f.File))
	result := results.New(tool(), spec.FileCommand(cmd.Flags(), f), []string{name}, f.Seed)
	result.Scenario, result.Reference = name, file.Reference
	if given := replaced(file, cmd.Flags()); file.Reference != nil && len(given) > 0 {
		result.Reference.Differs = append(result.Reference.Differs, "the file was run with other settings: "+strings.Join(given, " "))
	}
	return a.perform(cmd.Context(), f, result, jobs, asked)
}

// parseScenario parses a file that comes with stampede, or any other.
func (a *app) parseScenario(name string) (scenario.File, error) {
	text, ok := scenario.Shipped(name)
	if !ok {
		var err error
		if text, err = os.ReadFile(name); err != nil {
			return scenario.File{}, fmt.Errorf("scenario file %s: %w, and none that comes with stampede: there are %s",
				name, cli.WithoutPath(err), strings.Join(scenario.Names(), ", "))
		}
	}
	return scenario.Parse(name, text, a.scenarioKeys())
}

// jobs returns the jobs of all scenarios of a file and the file's thresholds. Flags that were given
// take precedence over the file.
func (a *app) jobs(file scenario.File, asked *pflag.FlagSet) ([]spec.Job, []gate.Threshold, error) {
	faults := scenario.Faults{Name: file.Name}
	var jobs []spec.Job
	for _, s := range file.Scenarios {
		j, err := a.scenarioJob(s, asked, &faults)
		if err != nil {
			return nil, nil, err
		}
		jobs = append(jobs, j)
	}
	if err := faults.Err(); err != nil {
		return nil, nil, err
	}
	var thresholds []gate.Threshold
	if flag := asked.Lookup("threshold"); flag == nil || !cli.WasGiven(flag) {
		thresholds = written(file, spec.RowsOf(jobs), &faults)
	}
	return jobs, thresholds, faults.Err()
}

// written returns the thresholds of the file. It adds the errors of invalid ones to the faults.
func written(file scenario.File, rows []gate.Row, faults *scenario.Faults) (all []gate.Threshold) {
	read := func(thresholds []scenario.ThresholdText, of string) {
		for _, t := range thresholds {
			parsed, err := gate.Parse(t.Text, of, rows)
			if err != nil {
				faults.Add(t.Line, "threshold %v", err)
				continue
			}
			all = append(all, parsed)
		}
	}
	read(file.Thresholds, "")
	for _, s := range file.Scenarios {
		read(s.Thresholds, s.Name)
	}
	return all
}

// scenarioJob returns the job of a scenario. It adds the error of an invalid setting to the faults,
// drops the setting and tries again to find further errors. An invalid flag is returned as the
// error.
func (a *app) scenarioJob(s scenario.Scenario, asked *pflag.FlagSet, faults *scenario.Faults) (spec.Job, error) {
	for {
		j, err := spec.NewJob(a.forms, s.Values("recipe"), a.bind(s, asked))
		if err == nil {
			j.Scenario = s.Name
			for _, set := range s.Settings {
				if why := spec.Unused(set.Key, j.Chosen); why != "" && !set.Shared {
					faults.Add(set.Line, "%s: %s", set.Key, why)
				}
			}
			return j, nil
		}
		var about cli.InvalidFlag
		errors.As(err, &about)
		if flag := asked.Lookup(about.Flag); flag != nil && cli.WasGiven(flag) {
			return spec.Job{}, err
		}
		faults.Add(s.LineOf(about.Flag), "%s", strings.TrimPrefix(err.Error(), "--"))
		if len(s.Values(about.Flag)) == 0 {
			return spec.Job{}, nil
		}
		s = s.WithoutKey(about.Flag)
	}
}

// reported prints the errors of a scenario file in the form that editors and CI systems parse, one on
// each line. It returns other errors for the caller to print as usual.
func (a *app) reported(err error) error {
	var faults *scenario.Faults
	if !errors.As(err, &faults) {
		return cli.Usage(err)
	}
	fmt.Fprintln(a.err, faults)
	return cli.Shown(cli.Usage(faults))
}
