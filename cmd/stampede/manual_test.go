package main

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/internal/golden"
	"github.com/stampede-bench/stampede/workloads/catalog"
)

const manualFolder = "../../docs/manual/"

// manualPages checks that the manual is the commands' help, on a page for each.
//
// Note: cobra/doc writes the help as Markdown, which turns our aligned lists into paragraphs.
func manualPages(t *testing.T) {
	var help bytes.Buffer
	root := (&app{forms: catalog.Forms(), out: &help}).root()
	var index strings.Builder
	index.WriteString("# The commands\n\n" +
		"Every flag can also be set by its environment variable; a flag on the command line takes precedence.\n`make docs` generates these pages, and `make man` manual pages for packages.\n\n| command | what it does |\n|---|---|\n")
	wanted := []string{"README.md"}
	for _, cmd := range root.Commands() {
		if cmd.Hidden {
			continue
		}
		name := cmd.Name() + ".md"
		wanted = append(wanted, name)
		golden.Compare(t, manualFolder+name, []byte(manualPage(cmd, &help)))
		fmt.Fprintf(&index, "| [%s](%s) | %s |\n", calledAs(cmd), name, cmd.Short)
	}
	golden.Compare(t, manualFolder+"README.md", []byte(index.String()))
	entries, err := os.ReadDir(manualFolder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !slices.Contains(wanted, e.Name()) {
			t.Errorf("%s%s is of no command", manualFolder, e.Name())
		}
	}
}

// TestHelpHasALineForEachFormat checks that the help wraps no line of the list of formats: what is wrapped is not indented, and
// would look like a format of its own.
func TestHelpHasALineForEachFormat(t *testing.T) {
	root := (&app{forms: catalog.Forms()}).root()
	var with int
	for _, cmd := range root.Commands() {
		output := cmd.Flags().Lookup("output")
		if output == nil {
			continue
		}
		with++
		_, list, _ := strings.Cut(output.Usage, ":\n")
		for _, line := range strings.Split(strings.TrimSpace(list), "\n") {
			if usage := cmd.UsageString(); !strings.Contains(usage, strings.TrimSpace(line)+"\n") {
				t.Errorf("%s --help wraps %q", cmd.CommandPath(), line)
			}
		}
	}
	if with < 8 {
		t.Errorf("%d commands have formats, want 8 or more", with)
	}
}

// manualPage returns the page of one command. The command prints its help to the buffer.
func manualPage(cmd *cobra.Command, help *bytes.Buffer) string {
	var page strings.Builder
	fmt.Fprintf(&page, "# %s\n\n", calledAs(cmd))
	if cmd.IsAdditionalHelpTopicCommand() {
		help.Reset()
		cli.Must(cmd.Help())
		fmt.Fprintf(&page, "```text\n%s\n```\n", strings.TrimSpace(help.String()))
		return page.String()
	}
	describe(&page, cmd)
	for _, sub := range cmd.Commands() {
		fmt.Fprintf(&page, "\n## %s\n\n", sub.CommandPath())
		describe(&page, sub)
	}
	return page.String()
}

// describe writes the command's text. Its examples are in console blocks, so that they are checked
// like all commands that pages show.
func describe(page *strings.Builder, cmd *cobra.Command) {
	about := cmd.Long
	if about == "" {
		about = cmd.Short + "."
	}
	fmt.Fprintf(page, "%s\n", about)
	if cmd.Runnable() {
		fmt.Fprintf(page, "\n```text\n%s\n```\n", cmd.UseLine())
	}
	if cmd.Example != "" {
		fmt.Fprintf(page, "\n```console parse\n%s\n```\n", strings.ReplaceAll("\n"+cmd.Example, "\n  ", "\n$ ")[1:])
	}
	for _, g := range cli.Grouped(cmd, flagGroups()) {
		var rows strings.Builder
		g.Flags.VisitAll(func(f *pflag.Flag) {
			if f.Name != "help" {
				rows.WriteString(flagRow(f))
			}
		})
		if rows.Len() > 0 {
			fmt.Fprintf(page, "\n**%s**\n\n| flag | variable | default | meaning |\n|---|---|---|---|\n%s", g.Title, &rows)
		}
	}
}

func flagRow(f *pflag.Flag) string {
	name, about := pflag.UnquoteUsage(f)
	flag := "--" + f.Name
	if f.Shorthand != "" {
		flag = "-" + f.Shorthand + ", " + flag
	}
	if name != "" {
		flag += " " + name
	}
	unless := cli.Default(f)
	if unless != "" {
		unless = "`" + unless + "`"
	}
	cells := strings.NewReplacer("|", "\\|", "\n", "<br>").Replace(strings.TrimSpace(about))
	return fmt.Sprintf("| `%s` | `%s` | %s | %s |\n", strings.ReplaceAll(flag, "|", "\\|"), cli.Variable(f), unless, cells)
}

// calledAs returns the command line of a command, or of a help topic.
func calledAs(cmd *cobra.Command) string {
	if cmd.IsAdditionalHelpTopicCommand() {
		return "stampede help " + cmd.Name()
	}
	return cmd.CommandPath()
}
