package cli

import (
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/internal/suggest"
)

// FromEnvironment sets every flag that was not given on the command line from its variable:
// STAMPEDE_ and the flag's name in capitals, with _ for -.
func FromEnvironment(flags *pflag.FlagSet) error {
	var failed error
	flags.VisitAll(func(f *pflag.Flag) {
		name := Variable(f)
		value, ok := fromVariable(f)
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

// fromVariable returns the value of a flag's variable, and whether the user has set that.
func fromVariable(f *pflag.Flag) (value string, set bool) {
	value, set = os.LookupEnv(Variable(f))
	return value, set && !ofKubernetes(Variable(f)+"="+value)
}

// WasGiven reports whether the flag was set, on the command line or by its variable.
func WasGiven(f *pflag.Flag) bool {
	_, set := fromVariable(f)
	return set || f.Changed
}

// FlagError explains what is wrong with a flag. It suggests the nearest flag name, or says what is
// wrong with the value.
func FlagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		if short := unknown.GetSpecifiedShortnames(); short != "" {
			return Usagef("unknown flag -%s: see %s --help", short, cmd.CommandPath())
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
		if !c.Hidden {
			have = append(have, c.Name())
		}
	}
	return Usage(suggest.Unknown("command", args[0], have))
}

// Repeated returns the flags that take one value and are given more than once in the words of a command line. The last
// value holds.
func Repeated(flags *pflag.FlagSet, words []string) (all []*pflag.Flag) {
	given := map[*pflag.Flag]int{}
	for _, word := range words {
		if word == "--" {
			break
		}
		name, _, _ := strings.Cut(strings.TrimPrefix(word, "--"), "=")
		f := flags.Lookup(name)
		if strings.HasPrefix(word, "-") && len(word) == 2 {
			f = flags.ShorthandLookup(word[1:])
		} else if !strings.HasPrefix(word, "--") {
			continue
		}
		if f == nil || f.Value.Type() == "bool" {
			continue
		}
		if _, list := f.Value.(pflag.SliceValue); list {
			continue
		}
		if given[f]++; given[f] == 2 {
			all = append(all, f)
		}
	}
	return all
}

// CheckDuration rejects a duration below the least.
func CheckDuration(name string, d time.Duration, least time.Duration) error {
	if d < least {
		return Flagf(name, "%v: must be at least %v", d, least)
	}
	return nil
}

// Must panics on an error that earlier checks rule out: the flag exists, and its type accepts the
// value.
func Must(err error) {
	if err != nil {
		panic(err)
	}
}

// CopyFlag copies the value of a flag to another of the same type.
func CopyFlag(to, from *pflag.Flag) {
	if list, ok := to.Value.(pflag.SliceValue); ok {
		Must(list.Replace(from.Value.(pflag.SliceValue).GetSlice()))
	} else {
		Must(to.Value.Set(from.Value.String()))
	}
	to.Changed = from.Changed
}

// GivenWords returns the given flags as words of a command line.
func GivenWords(asked *pflag.FlagSet, of func(*pflag.Flag) bool) (line []string) {
	asked.VisitAll(func(flag *pflag.Flag) {
		if !WasGiven(flag) || !of(flag) {
			return
		}
		for _, value := range Texts(flag) {
			line = append(line, "--"+flag.Name+"="+value)
		}
	})
	return line
}

// FlagWords returns the words of a command line that set the flag to its value. A boolean flag
// takes no word after it: pflag would read that word as an argument.
func FlagWords(f *pflag.Flag) (words []string) {
	for _, value := range Texts(f) {
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

// Texts returns a flag's values as they are written on a command line.
func Texts(flag *pflag.Flag) []string {
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

// Complete suggests a flag's values. It skips a command without a name, which is never typed: cobra
// would keep its flags forever.
func Complete(cmd *cobra.Command, flag string, values func() []string) {
	if cmd.Use == "" {
		return
	}
	suggest := func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return values(), cobra.ShellCompDirectiveNoFileComp
	}
	if err := cmd.RegisterFlagCompletionFunc(flag, suggest); err != nil {
		panic(err) // the flag exists and has no completion yet
	}
}

// CheckVariables rejects a variable that begins with STAMPEDE_ and that no command reads: without
// the check, a mistyped variable would silently have no effect. It accepts variables for flags of
// other commands, since a variable is often set for several commands, and those that Kubernetes sets in each pod for
// a service of the namespace whose name begins with stampede.
func CheckVariables(root *cobra.Command, others ...string) error {
	known := append(variables(root), others...)
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, variablePrefix) || slices.Contains(known, name) || ofKubernetes(entry) {
			continue
		}
		lower := make([]string, len(known))
		for i, k := range known {
			lower[i] = strings.ToLower(k)
		}
		if near := suggest.Name(name, lower); near != "" {
			return Usagef("unknown variable %s: did you mean %s?", name, strings.ToUpper(near))
		}
		return Usagef("unknown variable %s: no flag of stampede has that name: unset it", name)
	}
	return nil
}

// kubernetes matches the variables with which Kubernetes describes a service: its host and ports, and each port as the
// links of Docker had it.
var kubernetes = regexp.MustCompile(`^[A-Z0-9_]+_(SERVICE_(HOST|PORT(_[A-Z0-9_]+)?)|PORT(_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$`)

// ofKubernetes reports whether Kubernetes has set a variable. NAME_PORT alone may be a flag, mistyped: Kubernetes sets it to
// a URL.
func ofKubernetes(entry string) bool {
	name, value, _ := strings.Cut(entry, "=")
	short := strings.HasSuffix(name, "_PORT") && !strings.HasSuffix(name, "_SERVICE_PORT") && !strings.Contains(name, "_PORT_")
	return kubernetes.MatchString(name) && (!short || strings.Contains(value, "://"))
}

// variables returns the names of the variables of all flags of the command and its subcommands.
func variables(cmd *cobra.Command) (names []string) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, Variable(f)) })
	for _, c := range cmd.Commands() {
		names = append(names, variables(c)...)
	}
	return names
}
