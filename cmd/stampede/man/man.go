// Package man writes the help of commands as manual pages of section 1, for packages to install.
package man

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
)

// A Manual holds what the pages of a program have in common.
type Manual struct {
	Version string // of the program, in the footer
	Groups  []cli.FlagGroup
	// Topic returns the text of a help topic.
	Topic func(*cobra.Command) string
}

// Write writes a page for the command, and one for each command and help topic below it, to the folder.
func (m Manual) Write(folder string, cmd *cobra.Command) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, pageName(cmd)+".1"), []byte(m.Page(cmd)), 0o644); err != nil {
		return err
	}
	for _, sub := range children(cmd) {
		if err := m.Write(folder, sub); err != nil {
			return err
		}
	}
	return nil
}

// children returns the commands and the help topics below a command that have pages.
func children(cmd *cobra.Command) []*cobra.Command {
	return slices.DeleteFunc(slices.Clone(cmd.Commands()), func(c *cobra.Command) bool { return c.Hidden })
}

// pageName returns the name of a command's page: stampede-history-accept.
func pageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// Page returns the page of a command or of a help topic.
func (m Manual) Page(cmd *cobra.Command) string {
	p := &page{}
	p.request("TH", strings.ToUpper(pageName(cmd)), "1", "", m.Version, cmd.Root().Name()+" manual")
	p.request("SH", "NAME")
	p.line(fmt.Sprintf("%s - %s", pageName(cmd), cmd.Short))
	if cmd.IsAdditionalHelpTopicCommand() {
		p.request("SH", "DESCRIPTION")
		p.text(m.Topic(cmd))
	} else {
		m.describe(p, cmd)
	}
	p.request("SH", "SEE ALSO")
	p.line(strings.Join(seeAlso(cmd), ", "))
	return p.String()
}

// describe writes the sections of a command.
func (m Manual) describe(p *page, cmd *cobra.Command) {
	p.request("SH", "SYNOPSIS")
	usage := cmd.UseLine()
	if cmd.HasAvailableSubCommands() && !cmd.HasParent() {
		usage = cmd.CommandPath() + " COMMAND"
	}
	p.line(usage)
	p.request("SH", "DESCRIPTION")
	about := cmd.Long
	if about == "" {
		about = cmd.Short + "."
	}
	p.text(about)
	if cmd.HasAvailableSubCommands() {
		p.request("SH", "COMMANDS")
		for _, c := range children(cmd) {
			p.tagged(c.Name(), c.Short)
		}
	}
	if cmd.Example != "" {
		p.request("SH", "EXAMPLES")
		p.text(cmd.Example)
	}
	if groups := cli.Grouped(cmd, m.Groups); len(groups) > 0 {
		p.request("SH", "OPTIONS")
		for _, g := range groups {
			if len(groups) > 1 {
				p.request("SS", g.Title)
			}
			g.Flags.VisitAll(func(f *pflag.Flag) {
				if f.Name != "help" {
					p.flag(f)
				}
			})
		}
	}
	if cmd.Runnable() && cmd.HasParent() {
		p.request("SH", "EXIT STATUS")
		for _, c := range cli.ExitCodes() {
			p.tagged(c.Code, c.Meaning)
		}
	}
}

// seeAlso returns the pages of the commands above and below a command.
func seeAlso(cmd *cobra.Command) (pages []string) {
	of := children(cmd)
	if cmd.HasParent() {
		of = append([]*cobra.Command{cmd.Parent()}, of...)
	}
	for _, c := range of {
		pages = append(pages, pageName(c)+"(1)")
	}
	return pages
}

// A page is a manual page in progress, in the man macros of roff.
type page struct{ strings.Builder }

// request writes a line with a macro and its arguments.
func (p *page) request(macro string, arguments ...string) {
	p.WriteString("." + macro)
	for _, a := range arguments {
		fmt.Fprintf(p, ` "%s"`, escape(a))
	}
	p.WriteByte('\n')
}

// line writes a line of text.
func (p *page) line(text string) {
	text = escape(text)
	if strings.HasPrefix(text, ".") {
		text = `\&` + text // otherwise it would be a macro
	}
	p.WriteString(text + "\n")
}

// tagged writes a paragraph below a tag.
func (p *page) tagged(tag, text string) {
	p.WriteString(".TP\n")
	p.line(tag)
	p.text(text)
}

// flag writes a flag with its variable.
func (p *page) flag(f *pflag.Flag) {
	name, about := pflag.UnquoteUsage(f)
	tag := "--" + f.Name
	if f.Shorthand != "" {
		tag = "-" + f.Shorthand + ", " + tag
	}
	if name != "" {
		tag += " " + name
	}
	set := "Variable: " + cli.Variable(f)
	if unless := cli.Default(f); unless != "" {
		set = "Default: " + unless + ". " + set
	}
	p.tagged(tag, strings.TrimSpace(about)+"\n\n"+set)
}

// text writes paragraphs, which empty lines divide. Indented lines keep their form.
func (p *page) text(text string) {
	kept := false
	keep := func(indented bool) {
		if indented != kept {
			p.WriteString(map[bool]string{true: ".RS 2\n.nf\n", false: ".fi\n.RE\n"}[indented])
			kept = indented
		}
	}
	broken := false // an empty line was read, and nothing after it
	for _, line := range strings.Split(strings.Trim(text, "\n"), "\n") {
		if strings.TrimSpace(line) == "" {
			broken = true
			continue
		}
		indented := strings.HasPrefix(line, " ")
		if kept && broken && indented {
			p.WriteString("\n") // within a block an empty line is one
		}
		keep(indented)
		if broken && !indented {
			p.WriteString(".sp\n")
		}
		broken = false
		if indented {
			line = strings.TrimPrefix(line, "  ")
		}
		p.line(line)
	}
	keep(false)
}

// escape returns the text with what roff would read in another way: it has a hyphen and typographic quotation marks in
// place of the ASCII characters, which cannot be copied to a shell.
func escape(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\\':
			b.WriteString(`\e`)
		case r == '"':
			b.WriteString(`\(dq`)
		case r == '\'':
			b.WriteString(`\(aq`)
		case r == '`':
			b.WriteString(`\(ga`)
		case r == '^':
			b.WriteString(`\(ha`)
		case r == '~':
			b.WriteString(`\(ti`)
		case r == '-':
			b.WriteString(`\-`)
		case r > 126:
			fmt.Fprintf(&b, `\[u%04X]`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
