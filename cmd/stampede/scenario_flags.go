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

// ofResult are the flags of run that say what becomes of the result. A scenario
// file says what is run, and has a seed of its own.
func ofResult() []string {
	return []string{"file", metricsAddr, listen, "output", "save", "no-save", "quiet", "percentiles", "seed"}
}

// ofCommand are the flags that are no settings of a scenario, whose thresholds are
// written down in another way.
func ofCommand() []string {
	return append(ofResult(), "threshold", "abort-on", "baseline", "noise", "inconclusive")
}

// scenarioKeys are what a scenario can be told: the recipe, and what the flags of
// run can tell it.
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

// instead is the flag that says the same thing in another way.
func instead(flag string) string {
	return map[string]string{"rounds": "duration", "duration": "rounds"}[flag]
}

// checks is the check of one value of a flag, by itself.
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

// blank is the flags of run as they are when nothing is said.
func (a *app) blank() (*runFlags, *pflag.FlagSet) {
	f, cmd := &runFlags{}, &cobra.Command{}
	f.register(a, cmd)
	return f, cmd.Flags()
}

// bind is the flags that do what a scenario says, but for those that a person
// gave.
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

// copyFlag makes a flag what another of its kind is.
func copyFlag(to, from *pflag.Flag) {
	if list, ok := to.Value.(pflag.SliceValue); ok {
		must(list.Replace(from.Value.(pflag.SliceValue).GetSlice()))
	} else {
		must(to.Value.Set(from.Value.String()))
	}
	to.Changed = from.Changed
}

// must is for what was made sure of before: a value that the flag has taken, a
// flag that is there.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// fileCommand is the line that does the same again, without what is secret.
func fileCommand(asked *pflag.FlagSet, f runFlags) []string {
	line := append([]string{"stampede", "run", "-f", f.file}, words(asked, func(flag *pflag.Flag) bool {
		return !slices.Contains(ofResult(), flag.Name)
	})...)
	return append(line, "--seed", fmt.Sprint(f.seed))
}

// replaced are the flags that were given for something that the file says.
func replaced(file scenario.File, asked *pflag.FlagSet) []string {
	return words(asked, func(flag *pflag.Flag) bool {
		return slices.ContainsFunc(file.Scenarios, func(s scenario.Scenario) bool {
			return len(s.Values(flag.Name))+len(s.Values(instead(flag.Name))) > 0
		})
	})
}

// words are those of the flags that were given, as on a command line.
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

// flagWords are the words of a command line that set the flag to its value. A boolean
// flag takes no word after it: pflag would read that word as an argument.
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

// texts are a flag's values as they are given on a command line.
func texts(flag *pflag.Flag) []string {
	list, ok := flag.Value.(pflag.SliceValue)
	switch {
	case flag.Name == "user":
		return []string{drivers.Redacted}
	case !ok:
		return []string{flag.Value.String()}
	case flag.Value.Type() == "stringArray": // whose values may have commas in them
		return list.GetSlice()
	}
	return []string{strings.Join(list.GetSlice(), ",")}
}
