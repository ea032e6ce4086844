package cli

import (
	"errors"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stampede-bench/stampede/internal/suggest"
)

// FromEnvironment sets every flag that was not given on the command line from its variable:
// STAMPEDE_ and the flag's name in capitals, with _ for -.
func FromEnvironment(flags *pflag.FlagSet) error {
	var failed error
	flags.VisitAll(func(f *pflag.Flag) {
		name := Variable(f)
		value, ok := os.LookupEnv(name)
		if !ok || f.Changed || failed != nil {
			return
		}
		if err := f.Value.Set(value); err != nil {
			failed = Usagef("%s=%s: not %s", name, value, Wanted(f))
		}
	})
	return failed
}

const variablePrefix = "STAMPEDE_"

// Variable returns the name of a flag's environment variable.
func Variable(f *pflag.Flag) string {
	return variablePrefix + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
}

// WasGiven reports whether the flag was set, on the command line or by its variable.
func WasGiven(f *pflag.Flag) bool {
	_, set := os.LookupEnv(Variable(f))
	return set || f.Changed
}

// FlagError explains what is wrong with a flag. It suggests the nearest flag name, or says what is
// wrong with the value.
func FlagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		if short := unknown.GetSpecifiedShortnames(); short != "" {
			return Usagef("unknown flag -%s: see stampede %s --help", short, cmd.Name())
		}
		var have []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { have = append(have, "--"+f.Name) })
		return Usage(suggest.Unknown("flag", "--"+unknown.GetSpecifiedName(), have))
	}
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		return Flagf(invalid.GetFlag().Name, "%s: not %s", invalid.GetValue(), Wanted(invalid.GetFlag()))
	}
	return Usage(err)
}

// Wanted says what a flag's value must be.
func Wanted(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "duration":
		return "a duration such as 500ms or 10s"
	case "intSlice":
		return "a list of numbers such as 2,8,32"
	case "bool":
		return "true or false"
	case "ports":
		return "a port from 1 to 65535, or several such as 2181,2182"
	}
	return "a valid number"
}

// NoArguments rejects the arguments of a command that has none.
func NoArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return Usagef("stampede %s takes no arguments, got %q", cmd.Name(), args[0])
	}
	return nil
}

// NoSuchCommand rejects a word where a command is expected.
func NoSuchCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var have []string
	for _, c := range cmd.Commands() {
		have = append(have, c.Name())
	}
	return Usage(suggest.Unknown("command", args[0], have))
}

// CheckDuration rejects a duration below the least.
func CheckDuration(name string, d time.Duration, least time.Duration) error {
	if d < least {
		return Flagf(name, "%v: must be at least %v", d, least)
	}
	return nil
}
