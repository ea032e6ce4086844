package render

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"

	"github.com/stampede-bench/stampede/results/document"
)

// writeMarkdown writes the document in GitHub Flavored Markdown.
func writeMarkdown(w io.Writer, d document.Document, _ Options) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "## %s\n", escaped(d.Heading))
	if d.Verdict != "" {
		fmt.Fprintf(&b, "\n**Verdict: %s**", escaped(string(d.Verdict)))
		if d.Reason != "" {
			fmt.Fprintf(&b, ": %s", escaped(d.Reason))
		}
		fmt.Fprintln(&b)
	}
	if d.Interrupted != "" {
		fmt.Fprintf(&b, "\n**%s**\n", escaped(d.Interrupted))
	}
	for i, line := range d.Findings {
		if i > 0 {
			fmt.Fprint(&b, ">")
		}
		fmt.Fprintf(&b, "\n> %s\n", escaped(line))
	}
	for _, t := range d.AllTables() {
		fmt.Fprintf(&b, "\n### %s\n", escaped(t.Title))
		if err := markdownTable(&b, t); err != nil {
			return err
		}
	}
	var warnings, notes []string
	for _, warning := range d.Warnings {
		warnings = append(warnings, warning.Text)
	}
	for _, n := range d.Notes {
		notes = append(notes, strings.Join(n.Lines(), ";"))
	}
	list(&b, "### Warnings", warnings)
	list(&b, "### Notes", notes)
	if d.Command != "" {
		fenced(&b, "sh", d.Command)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// fenced writes a block of literal text.
func fenced(w io.Writer, language, text string) {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	fmt.Fprintf(w, "\n%s%s\n%s\n%s\n", fence, language, text, fence)
}

// markdownTable writes the table, if it has rows, its notes and its warnings. A Markdown table cannot have
// headings over several columns, so they stand before the heading of each of these columns.
func markdownTable(w io.Writer, t document.Table) error {
	if len(t.Rows) > 0 {
		fmt.Fprintln(w)
		columns := make([]document.Column, len(t.Columns))
		for i, over := range t.Overs() {
			columns[i] = document.Column{Head: escaped(strings.TrimSpace(over + " " + t.Columns[i].Head)), Left: t.Columns[i].Left}
		}
		rows := make([][]string, len(t.Rows))
		for r, row := range t.Rows {
			for _, cell := range row {
				rows[r] = append(rows[r], escaped(cell))
			}
		}
		if err := tabulate(w, renderer.NewMarkdown(), tw.PaddingDefault, columns, rows); err != nil {
			return err
		}
	}
	for _, note := range t.Notes {
		fmt.Fprintf(w, "\n%s\n", escaped(note))
	}
	var warnings []string
	for _, warning := range t.Warnings {
		warnings = append(warnings, warning.Text)
	}
	list(w, "Warnings:", warnings)
	return nil
}

func list(w io.Writer, title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s\n\n", title)
	for _, line := range lines {
		fmt.Fprintf(w, "- %s\n", escaped(line))
	}
}

// marks matches the characters that are special anywhere in Markdown, and begins those that are special
// at the start of a line.
var (
	marks  = regexp.MustCompile("[\\\\`*_\\[\\]<>|~&#$]")
	begins = regexp.MustCompile(`^(\d{0,9})([-+=.)])([-=\s]|$)`)
)

// escaped returns the text on one line, with its special characters escaped.
func escaped(text string) string {
	text = strings.Join(strings.FieldsFunc(valid(text), func(r rune) bool { return r <= ' ' || r == 0x7f }), " ")
	text = marks.ReplaceAllString(text, `\$0`)
	return begins.ReplaceAllString(text, `$1\$2$3`)
}

// valid replaces each invalid byte of the text with a replacement character.
func valid(text string) string { return strings.Map(func(r rune) rune { return r }, text) }
