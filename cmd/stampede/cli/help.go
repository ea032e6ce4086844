package cli

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/stampede-bench/stampede/internal/printable"
	"github.com/stampede-bench/stampede/results/units"
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

// Default returns the flag's default as a manual shows it, "" if it is that of the type.
func Default(f *pflag.Flag) string {
	switch f.DefValue {
	case "", "0", "0s", "false", "[]":
		return ""
	}
	return strings.Trim(f.DefValue, "[]")
}

func newFlags() *pflag.FlagSet { return pflag.NewFlagSet("", pflag.ContinueOnError) }

// Counted returns "1 node" or "2 nodes".
func Counted(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return units.Count(int64(n)) + " " + noun
}

// Age formats a duration in its largest unit: "2 h".
func Age(d time.Duration) string {
	switch {
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}

// A Screen is standard output or standard error. It makes control sequences visible, so that what
// is written to it can only show text on a terminal.
type Screen struct {
	*printable.Writer
	File *os.File
}

// NewScreen returns the screen that writes to the file.
func NewScreen(file *os.File) Screen { return Screen{printable.NewWriter(file), file} }

// IsTerminal reports whether a writer is a screen on a terminal.
func IsTerminal(w io.Writer) bool {
	s, ok := w.(Screen)
	return ok && term.IsTerminal(int(s.File.Fd()))
}

// Columns returns the width of the terminal that a writer is a screen on, 0 if it is on none.
func Columns(w io.Writer) int {
	if !IsTerminal(w) {
		return 0
	}
	columns, _, _ := term.GetSize(int(w.(Screen).File.Fd())) // 0 if it is not known
	return columns
}
