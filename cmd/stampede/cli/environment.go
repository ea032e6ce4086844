package cli

import (
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stampede-bench/stampede/internal/suggest"
)

// CheckVariables rejects a variable that begins with STAMPEDE_ and that no command reads: without
// the check, a mistyped variable would silently have no effect. It accepts variables for flags of
// other commands, since a variable is often set for several commands.
func CheckVariables(root *cobra.Command, others ...string) error {
	known := append(variables(root), others...)
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, variablePrefix) || slices.Contains(known, name) {
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

// variables returns the names of the variables of all flags of the command and its subcommands.
func variables(cmd *cobra.Command) (names []string) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, Variable(f)) })
	for _, c := range cmd.Commands() {
		names = append(names, variables(c)...)
	}
	return names
}
