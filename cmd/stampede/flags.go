package main

import (
	"errors"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stampede-bench/stampede/internal/nearest"
)

// fromEnvironment sets every flag that was not given on the command line from its variable:
// STAMPEDE_ and the flag's name in capitals, with _ for -.
func fromEnvironment(flags *pflag.FlagSet) error {
	var failed error
	flags.VisitAll(func(f *pflag.Flag) {
		name := variable(f)
		value, ok := os.LookupEnv(name)
		if !ok || f.Changed || failed != nil {
			return
		}
		if err := f.Value.Set(value); err != nil {
			failed = usagef("%s=%s: not %s", name, value, kind(f))
		}
	})
	return failed
}

const variablePrefix = "STAMPEDE_"

// variable returns the name of a flag's environment variable.
func variable(f *pflag.Flag) string {
	return variablePrefix + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
}

// wasGiven reports whether the flag was set, on the command line or by its variable.
func wasGiven(f *pflag.Flag) bool {
	_, set := os.LookupEnv(variable(f))
	return set || f.Changed
}

// flagError explains what is wrong with a flag. It suggests the nearest flag name, or says what is
// wrong with the value.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		if short := unknown.GetSpecifiedShortnames(); short != "" {
			return usagef("unknown flag -%s: see stampede %s --help", short, cmd.Name())
		}
		var have []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { have = append(have, "--"+f.Name) })
		return usage(nearest.Unknown("flag", "--"+unknown.GetSpecifiedName(), have))
	}
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		return usagef("--%s %s: not %s", invalid.GetFlag().Name, invalid.GetValue(), kind(invalid.GetFlag()))
	}
	return usage(err)
}

// kind says what a flag's value must be.
func kind(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "duration":
		return "a duration such as 500ms or 10s"
	case "intSlice":
		return "a list of numbers such as 2,8,32"
	case "bool":
		return "true or false"
	}
	return "a number that fits"
}

// noArguments rejects the arguments of a command that has none.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("stampede %s takes no arguments, got %q", cmd.Name(), args[0])
	}
	return nil
}

// noSuchCommand rejects a word where a command is expected.
func noSuchCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var have []string
	for _, c := range cmd.Commands() {
		have = append(have, c.Name())
	}
	return usage(nearest.Unknown("command", args[0], have))
}

// checkGroups checks that all groups can have the same size, so that they measure the same thing.
func checkGroups(groups int, levels []int) error {
	if groups < 1 {
		return usagef("--groups %d: must be at least 1", groups)
	}
	for _, n := range levels {
		if n%groups != 0 {
			nearest := max(groups, (n+groups/2)/groups*groups)
			return usagef("--groups %d: %d clients cannot be parted into so many of one size, but %d can: say so with --clients", groups, n, nearest)
		}
	}
	return nil
}

func checkClients(levels []int) error {
	if len(levels) == 0 {
		return usagef("--clients: name at least one number of clients")
	}
	for _, n := range levels {
		if n < 1 {
			return usagef("--clients %d: there must be at least 1", n)
		}
	}
	return nil
}

func checkDuration(name string, d time.Duration, least time.Duration) error {
	if d < least {
		return usagef("--%s %v: must be at least %v", name, d, least)
	}
	return nil
}
