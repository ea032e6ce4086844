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

	"github.com/stampede-bench/stampede/gate"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/scenario"
	"github.com/stampede-bench/stampede/workloads/catalog"
)

// runFile runs a scenario file; flags that were given take precedence over it.
func (a *app) runFile(cmd *cobra.Command, recipes []string, f runFlags) error {
	if len(recipes) > 0 {
		return usagef("-f %s: the file names the recipes: leave out %q", f.file, recipes[0])
	}
	file, err := a.parseScenario(f.file)
	if err != nil {
		return a.told(err)
	}
	jobs, written, err := a.jobs(file, cmd.Flags())
	if err != nil {
		return a.told(err)
	}
	var chosen []catalog.Choice
	for _, j := range jobs {
		chosen = append(chosen, j.chosen...)
	}
	if err := checkUsed(cmd.Flags(), chosen); err != nil {
		return err
	}
	asked, err := f.gates.resolve(rowsOf(jobs), written)
	if err != nil {
		return err
	}
	if !wasGiven(cmd.Flags().Lookup("seed")) && file.Seed != "" {
		f.seed, _ = strconv.ParseUint(file.Seed, 10, 64) // validated by the parser
	}
	f.drawSeed()
	for i := range jobs {
		jobs[i].flags.seed, jobs[i].flags.quiet = f.seed, f.quiet
	}
	name := strings.TrimSuffix(filepath.Base(f.file), filepath.Ext(f.file))
	result := results.New(tool(), fileCommand(cmd.Flags(), f), []string{name}, f.seed)
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
				name, bare(err), strings.Join(scenario.Names(), ", "))
		}
	}
	return scenario.Parse(name, text, a.scenarioKeys())
}

// jobs returns the jobs of all scenarios of a file and the file's thresholds. Flags that were given
// take precedence over the file.
func (a *app) jobs(file scenario.File, asked *pflag.FlagSet) ([]job, []gate.Threshold, error) {
	faults := scenario.Faults{Name: file.Name}
	var jobs []job
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
	if flag := asked.Lookup("threshold"); flag == nil || !wasGiven(flag) {
		thresholds = written(file, rowsOf(jobs), &faults)
	}
	return jobs, thresholds, faults.Err()
}

// written returns the thresholds of the file. It adds the errors of invalid ones to the faults.
func written(file scenario.File, rows []gate.Row, faults *scenario.Faults) (all []gate.Threshold) {
	read := func(thresholds []scenario.Threshold, of string) {
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
func (a *app) scenarioJob(s scenario.Scenario, asked *pflag.FlagSet, faults *scenario.Faults) (job, error) {
	for {
		j, err := a.job(s.Values("recipe"), a.bind(s, asked))
		if err == nil {
			j.scenario = s.Name
			for _, set := range s.Settings {
				if why := unused(set.Key, j.chosen); why != "" && !set.Shared {
					faults.Add(set.Line, "%s: %s", set.Key, why)
				}
			}
			return j, nil
		}
		key := culprit(err)
		if flag := asked.Lookup(key); flag != nil && wasGiven(flag) {
			return job{}, err
		}
		faults.Add(s.LineOf(key), "%s", strings.TrimPrefix(err.Error(), "--"))
		if len(s.Values(key)) == 0 {
			return job{}, nil
		}
		s = s.Without(key)
	}
}

// culprit returns the name of the setting that the error is about: the error's text begins with it.
func culprit(err error) string {
	about, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(err.Error(), "--"), "unknown "), " ")
	return strings.TrimSuffix(about, ":")
}

// told prints the errors of a scenario file in the form that editors and CI systems parse, one on
// each line. It returns other errors for the caller to print as usual.
func (a *app) told(err error) error {
	var faults *scenario.Faults
	if !errors.As(err, &faults) {
		return usage(err)
	}
	fmt.Fprintln(a.err, faults)
	return silent{usage(faults)}
}
