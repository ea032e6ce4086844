package main

import (
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/cmd/stampede/spec"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/drivers/cluster/faults"
	"github.com/stampede-bench/stampede/workloads/catalog"
	"github.com/stampede-bench/stampede/workloads/scenario"
)

// scenarioKeys returns the keys of a scenario: the recipe, and the flags of run that a scenario may
// set.
func (a *app) scenarioKeys() []scenario.Key {
	keys := []scenario.Key{{Name: "recipe", List: true, Check: func(value string) error {
		_, err := catalog.Select(a.forms, []string{value}, nil)
		return err
	}}}
	_, flags := spec.Defaults(a.forms)
	flags.VisitAll(func(f *pflag.Flag) {
		if !slices.Contains(spec.OfCommand(), f.Name) || slices.Contains(spec.AgentFlags(), f.Name) {
			_, list := f.Value.(pflag.SliceValue)
			keys = append(keys, scenario.Key{Name: f.Name, List: list, Instead: instead(f.Name), Check: checks(f)})
		}
	})
	return keys
}

// instead returns the alternative flag for the same thing.
func instead(flag string) string {
	return map[string]string{"rounds": "duration", "duration": "rounds"}[flag]
}

// checks returns a function that checks one value of a flag in isolation.
func checks(f *pflag.Flag) func(string) error {
	if f.Name == "backend" {
		return func(value string) error {
			_, err := backends.Parse(value)
			return err
		}
	}
	if f.Name == "fault" {
		return func(value string) error {
			_, err := faults.Parse(value)
			return err
		}
	}
	return func(value string) error {
		if err := f.Value.Set(value); err != nil {
			return fmt.Errorf("%s %s: not %s", f.Name, value, cli.Wanted(f))
		}
		return nil
	}
}

// takeAgents sets the flags of the agents, which do all runs of a file, to those of its jobs.
func takeAgents(f *spec.Flags, file scenario.File, jobs []spec.Job) error {
	f.Agents = jobs[0].Flags.Agents
	faults := scenario.Faults{Name: file.Name}
	for i, j := range jobs {
		if j.Flags.Agents == f.Agents {
			continue
		}
		for _, name := range spec.AgentFlags() {
			if line := file.Scenarios[i].LineOf(name); len(file.Scenarios[i].Values(name)) > 0 {
				faults.Add(line, "%s: the same agents do all runs of a file: write it once, above scenarios:", name)
			}
		}
		if faults.Err() == nil { // the first scenario has the setting, and this one has not
			faults.Add(1, "agents: the same agents do all runs of a file: write it once, above scenarios:")
		}
	}
	return faults.Err()
}

// bind returns the flags with the settings of a scenario. Flags that were given take precedence.
func (a *app) bind(s scenario.Scenario, asked *pflag.FlagSet) spec.Flags {
	f, flags := spec.Defaults(a.forms)
	isGiven := func(name string) bool {
		flag := asked.Lookup(name)
		return flag != nil && cli.WasGiven(flag)
	}
	flags.VisitAll(func(flag *pflag.Flag) {
		switch {
		case isGiven(flag.Name):
			cli.CopyFlag(flag, asked.Lookup(flag.Name))
		case !isGiven(instead(flag.Name)):
			for _, value := range s.Values(flag.Name) {
				cli.Must(flags.Set(flag.Name, value))
			}
		}
	})
	return *f
}

// replaced returns the flags that were given and that override a setting of the file.
func replaced(file scenario.File, asked *pflag.FlagSet) []string {
	return cli.GivenWords(asked, func(flag *pflag.Flag) bool {
		return slices.ContainsFunc(file.Scenarios, func(s scenario.Scenario) bool {
			return len(s.Values(flag.Name))+len(s.Values(instead(flag.Name))) > 0
		})
	})
}
