package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/drivers/faults"
	"github.com/stampede-bench/stampede/scenario"
	"github.com/stampede-bench/stampede/workloads/catalog"
)

// ofResult lists the flags of run that say what happens to the result. A scenario file cannot set
// them; it has a seed of its own.
func ofResult() []string {
	return []string{"file", metricsAddr, listen, "output", "save", "no-save", "quiet", "percentiles", "seed"}
}

// ofCommand lists the flags that are not settings of a scenario. A scenario states its thresholds
// in another form.
func ofCommand() []string {
	return append(ofResult(), "threshold", "abort-on", "baseline", "noise", "inconclusive")
}

// scenarioKeys returns the keys of a scenario: the recipe, and the flags of run that a scenario may
// set.
func (a *app) scenarioKeys() []scenario.Key {
	keys := []scenario.Key{{Name: "recipe", List: true, Check: func(value string) error {
		_, err := catalog.Select(a.forms, []string{value}, nil)
		return err
	}}}
	_, flags := a.blank()
	flags.VisitAll(func(f *pflag.Flag) {
		if !slices.Contains(ofCommand(), f.Name) {
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
			return fmt.Errorf("%s %s: not %s", f.Name, value, kind(f))
		}
		return nil
	}
}

// blank returns the flags of run with their default values.
func (a *app) blank() (*runFlags, *pflag.FlagSet) {
	f, cmd := &runFlags{}, &cobra.Command{}
	f.register(a, cmd)
	return f, cmd.Flags()
}

// bind returns the flags with the settings of a scenario. Flags that were given take precedence.
func (a *app) bind(s scenario.Scenario, asked *pflag.FlagSet) runFlags {
	f, flags := a.blank()
	isGiven := func(name string) bool {
		flag := asked.Lookup(name)
		return flag != nil && wasGiven(flag)
	}
	flags.VisitAll(func(flag *pflag.Flag) {
		switch {
		case isGiven(flag.Name):
			copyFlag(flag, asked.Lookup(flag.Name))
		case !isGiven(instead(flag.Name)):
			for _, value := range s.Values(flag.Name) {
				must(flags.Set(flag.Name, value))
			}
		}
	})
	return *f
}

// copyFlag copies the value of a flag to another of the same type.
func copyFlag(to, from *pflag.Flag) {
	if list, ok := to.Value.(pflag.SliceValue); ok {
		must(list.Replace(from.Value.(pflag.SliceValue).GetSlice()))
	} else {
		must(to.Value.Set(from.Value.String()))
	}
	to.Changed = from.Changed
}

// must panics on an error that earlier checks rule out: the flag exists, and its type accepts the
// value.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// fileCommand returns the command line that repeats the run, without secrets.
func fileCommand(asked *pflag.FlagSet, f runFlags) []string {
	line := append([]string{"stampede", "run", "-f", f.file}, words(asked, func(flag *pflag.Flag) bool {
		return !slices.Contains(ofResult(), flag.Name)
	})...)
	return append(line, "--seed", fmt.Sprint(f.seed))
}

// replaced returns the flags that were given and that override a setting of the file.
func replaced(file scenario.File, asked *pflag.FlagSet) []string {
	return words(asked, func(flag *pflag.Flag) bool {
		return slices.ContainsFunc(file.Scenarios, func(s scenario.Scenario) bool {
			return len(s.Values(flag.Name))+len(s.Values(instead(flag.Name))) > 0
		})
	})
}

// words returns the given flags as words of a command line.
func words(asked *pflag.FlagSet, of func(*pflag.Flag) bool) (line []string) {
	asked.VisitAll(func(flag *pflag.Flag) {
		if !wasGiven(flag) || !of(flag) {
			return
		}
		for _, value := range texts(flag) {
			line = append(line, "--"+flag.Name+"="+value)
		}
	})
	return line
}

// flagWords returns the words of a command line that set the flag to its value. A boolean flag
// takes no word after it: pflag would read that word as an argument.
func flagWords(f *pflag.Flag) (words []string) {
	for _, value := range texts(f) {
		switch {
		case f.Value.Type() == "bool" && value == "true":
			words = append(words, "--"+f.Name)
		case f.Value.Type() == "bool":
			words = append(words, "--"+f.Name+"="+value)
		default:
			words = append(words, "--"+f.Name, value)
		}
	}
	return words
}

// texts returns a flag's values as they are written on a command line.
func texts(flag *pflag.Flag) []string {
	list, ok := flag.Value.(pflag.SliceValue)
	switch {
	case flag.Name == "user":
		return []string{drivers.Redacted}
	case !ok:
		return []string{flag.Value.String()}
	case flag.Value.Type() == "stringArray": // its values may contain commas
		return list.GetSlice()
	}
	return []string{strings.Join(list.GetSlice(), ",")}
}
