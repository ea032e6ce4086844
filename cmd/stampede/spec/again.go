package spec

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/pflag"
	"github.com/stampede-bench/stampede/cmd/stampede/cli"
)

// Command returns the command line that repeats the run, without secrets. It contains the flags
// that differ from their defaults, and those by which a reader recognizes the run.
func (f *Flags) Command(recipes []string) []string {
	line, flags := append([]string{"stampede", "run"}, recipes...), f.flagSet()
	used := func(name string) bool {
		return slices.ContainsFunc(recipes, func(r string) bool { return uses(r, name) })
	}
	first, last := []string{"backend", "form", "clients"}, []string{"duration"}
	if used("hold") {
		first = append(first, "hold")
	}
	if f.Run.Rounds > 0 {
		last = []string{"rounds"}
	}
	unprinted := slices.DeleteFunc(ofResult(), func(name string) bool { return name == "percentiles" }) // it selects columns only
	apart := slices.Concat(first, unprinted, []string{"hold", "duration", "rounds"})
	var others, judging []string
	flags.VisitAll(func(flag *pflag.Flag) {
		switch {
		case slices.Contains(apart, flag.Name) || flag.Value.String() == flag.DefValue:
		case !used(flag.Name): // its variable is set for other commands
		case slices.Contains(OfCommand(), flag.Name):
			judging = append(judging, flag.Name)
		default:
			others = append(others, flag.Name)
		}
	})
	for _, name := range slices.Concat(first, others, last, judging) {
		if flag := flags.Lookup(name); flag.Value.String() != "[]" {
			line = append(line, cli.FlagWords(flag)...)
		}
	}
	return append(line, "--seed", strconv.FormatUint(f.Seed, 10))
}

// FileCommand returns the command line that repeats the run, without secrets. The defaults are words for
// what the file of the project's defaults sets.
func FileCommand(asked *pflag.FlagSet, f Flags, defaults []string) []string {
	line := append([]string{"stampede", "run", "-f", f.File}, cli.GivenWords(asked, func(flag *pflag.Flag) bool {
		return !slices.Contains(ofResult(), flag.Name)
	})...)
	return append(append(line, defaults...), "--seed", fmt.Sprint(f.Seed))
}

// Words returns the flags of these names that differ from their defaults, as words of a command line.
func (f *Flags) Words(names []string) (words []string) {
	flags := f.flagSet()
	for _, name := range names {
		if flag := flags.Lookup(name); flag.Value.String() != flag.DefValue {
			words = append(words, cli.FlagWords(flag)...)
		}
	}
	return words
}

// Changed returns the flags that differ from their defaults, as words of a command line, without
// those that say what happens to the results.
func Changed(flags *pflag.FlagSet) (words []string) {
	flags.VisitAll(func(f *pflag.Flag) {
		if slices.Contains([]string{MetricsFlag, ListenFlag, "output", "color", "save", "no-save", "subject", "tag", "quiet", dryRun, "resume", "seed"}, f.Name) || f.Value.String() == f.DefValue {
			return
		}
		words = append(words, cli.FlagWords(f)...)
	})
	return words
}

// PairCommand returns the command line that repeats the comparison.
func PairCommand(name string, args, given []string, seed uint64) []string {
	line := append([]string{"stampede", name}, args...)
	return append(append(line, given...), "--seed", fmt.Sprint(seed))
}
