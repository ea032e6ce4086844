package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A FlagGroup is a set of flags that help shows under one title.
type FlagGroup struct {
	Title string
	Flags []string // their names
}

// helpWidth is the width to which descriptions of flags are wrapped.
const helpWidth = 100

// SetHelp makes the command and those below it print their flags in groups. Flags of no group come
// last.
func SetHelp(root *cobra.Command, groups []FlagGroup) {
	root.SetUsageFunc(func(cmd *cobra.Command) error {
		w := cmd.OutOrStderr()
		writeUsageLine(w, cmd)
		writeCommands(w, cmd)
		for _, g := range Grouped(cmd, groups) {
			fmt.Fprintf(w, "\n%s:\n%s", g.Title, g.Flags.FlagUsagesWrapped(helpWidth))
		}
		if cmd.HasAvailableSubCommands() {
			fmt.Fprintf(w, "\n%s COMMAND --help explains a command.\n", cmd.CommandPath())
		}
		return nil
	})
}

func writeUsageLine(w io.Writer, cmd *cobra.Command) {
	line := cmd.UseLine()
	if cmd.HasAvailableSubCommands() {
		line = cmd.CommandPath() + " COMMAND"
	}
	fmt.Fprintf(w, "Usage:\n  %s\n", line)
	if cmd.Example != "" {
		fmt.Fprintf(w, "\nExamples:\n%s\n", cmd.Example)
	}
}

// writeCommands lists the subcommands by group, and then the help topics.
func writeCommands(w io.Writer, cmd *cobra.Command) {
	titles := append(cmd.Groups(), &cobra.Group{Title: "Other commands:"}, &cobra.Group{ID: "help", Title: "Help topics:"})
	for _, g := range titles {
		var rows strings.Builder
		for _, c := range cmd.Commands() {
			if of := cmp.Or(c.GroupID, topicGroup(c)); of == g.ID && !c.Hidden && c.Name() != "help" {
				fmt.Fprintf(&rows, "  %-12s %s\n", c.Name(), c.Short)
			}
		}
		if rows.Len() > 0 {
			fmt.Fprintf(w, "\n%s\n%s", g.Title, &rows)
		}
	}
}

func topicGroup(cmd *cobra.Command) string {
	if cmd.IsAdditionalHelpTopicCommand() {
		return "help"
	}
	return ""
}

// A TitledFlags is a group with those of its flags that a command has.
type TitledFlags struct {
	Title string
	Flags *pflag.FlagSet
}

// Grouped returns the command's flags by group, without empty groups. A command with few flags has
// one group.
func Grouped(cmd *cobra.Command, groups []FlagGroup) (all []TitledFlags) {
	const few = 12
	rest, number := TitledFlags{"Flags", newFlags()}, 0
	cmd.LocalFlags().VisitAll(func(*pflag.Flag) { number++ })
	if number <= few {
		groups = nil
	}
	for _, g := range groups {
		all = append(all, TitledFlags{g.Title, newFlags()})
	}
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		at := slices.IndexFunc(groups, func(g FlagGroup) bool { return slices.Contains(g.Flags, f.Name) })
		if at < 0 {
			rest.Flags.AddFlag(f)
			return
		}
		all[at].Flags.AddFlag(f)
	})
	if len(groups) > 0 {
		rest.Title = "Other flags"
	}
	return slices.DeleteFunc(append(all, rest), func(g TitledFlags) bool { return !g.Flags.HasAvailableFlags() })
}

func newFlags() *pflag.FlagSet { return pflag.NewFlagSet("", pflag.ContinueOnError) }
