package formats

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/observation"
	"github.com/stampede-bench/stampede/results/view"
	"github.com/stampede-bench/stampede/results/workflow"
)

// writeMarkdown writes the result in GitHub Flavored Markdown.
func writeMarkdown(w io.Writer, v results.Result, _ Options) error {
	_, err := w.Write(markdown(v))
	return err
}

func markdown(v results.Result) []byte {
	var b bytes.Buffer
	if v, ok := v.(results.Observation); ok {
		observed(&b, v)
		return b.Bytes()
	}
	p := view.Of(v).Page()
	fmt.Fprintf(&b, "## %s\n\n", escaped(p.Heading))
	if verdict := verdictOf(v); verdict != "" {
		fmt.Fprintf(&b, "**Verdict: %s**\n\n", escaped(string(verdict)))
	}
	if p.Broken != "" {
		fmt.Fprintf(&b, "**%s**\n\n", escaped(p.Broken))
	}
	for _, line := range p.Finding {
		fmt.Fprintf(&b, "> %s\n>\n", escaped(line))
	}
	b.Truncate(b.Len() - len(">\n"))
	asked(&b, v)
	for _, t := range p.Tables {
		fmt.Fprintf(&b, "\n### %s\n", escaped(t.Title))
		rows(&b, t)
	}
	list(&b, "Mind", p.Warnings)
	list(&b, "Notes", p.Notes)
	if p.Command != "" {
		fenced(&b, "sh", p.Command)
	}
	return b.Bytes()
}

// observed writes the heading, the verdict, the findings and the tables.
func observed(b *bytes.Buffer, v results.Observation) {
	fmt.Fprintf(b, "## %s\n\n", escaped(observation.Heading(v)))
	if v.Verdict != "" {
		fmt.Fprintf(b, "**Verdict: %s**\n", escaped(string(v.Verdict)))
	}
	for _, line := range observation.Findings(v) {
		fmt.Fprintf(b, "\n> %s\n>", escaped(line))
	}
	fmt.Fprintln(b)
	for _, t := range append(observation.Thresholds(v), observation.Tables(v)...) {
		fmt.Fprintf(b, "\n### %s\n", escaped(t.Title))
		rows(b, t)
	}
}

// fenced writes a block of literal text.
func fenced(w io.Writer, language, text string) {
	fence := strings.Repeat("`", max(3, longest(text, '`')+1))
	fmt.Fprintf(w, "\n%s%s\n%s\n%s\n", fence, language, text, fence)
}

// asked writes a table of the checks that did not pass, and of those that passed with a measurement.
func asked(w io.Writer, v results.Result) {
	t := view.Table{Title: "Checks"}
	for _, head := range []string{"verdict", "what", "of", "measured", "limit", "why"} {
		t.Columns = append(t.Columns, view.Column{Head: head, Left: head != "measured" && head != "limit"})
	}
	for _, c := range worst(checks(v)) {
		t.Rows = append(t.Rows, c.row())
	}
	for _, c := range checks(v) {
		if c.passed() && c.measured != "" {
			t.Rows = append(t.Rows, c.row())
		}
	}
	if len(t.Rows) > 0 {
		fmt.Fprintf(w, "\n### %s\n", t.Title)
		rows(w, t)
	}
}

func (c check) row() []string {
	return []string{string(c.verdict), c.name, c.who(), c.measured, c.limit, c.why}
}

// who names what the check is about: "lock/one-node, 8 clients".
func (c check) who() string {
	if c.recipe == "comparison" || c.recipe == "stampede" { // the check is not about a form
		return c.subject
	}
	return fmt.Sprintf("%s/%s, %s", c.recipe, c.form, c.subject)
}

// rows writes the table, if it has rows, and its notes.
func rows(w io.Writer, t view.Table) {
	if len(t.Rows) > 0 {
		fmt.Fprintln(w)
		row(w, heads(t.Columns))
		fmt.Fprintf(w, "|%s|\n", strings.Join(alignments(t.Columns), "|"))
	}
	for _, cells := range t.Rows {
		row(w, cells)
	}
	for _, note := range t.Notes {
		fmt.Fprintf(w, "\n%s\n", escaped(note))
	}
}

func alignments(columns []view.Column) (all []string) {
	for _, c := range columns {
		if c.Left {
			all = append(all, "---")
		} else {
			all = append(all, "---:")
		}
	}
	return all
}

// heads returns the heading of each column, preceded by the heading over several columns, if any. A Markdown
// table cannot have headings over several columns.
func heads(columns []view.Column) (all []string) {
	over := ""
	for _, c := range columns {
		if c.Over != "" || c.Begins {
			over = c.Over
		}
		all = append(all, strings.TrimSpace(over+" "+c.Head))
	}
	return all
}

func row(w io.Writer, cells []string) {
	for _, c := range cells {
		fmt.Fprintf(w, "| %s ", escaped(c))
	}
	fmt.Fprintln(w, "|")
}

func list(w io.Writer, title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(w, "\n### %s\n\n", title)
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
	text = strings.Join(strings.FieldsFunc(workflow.Valid(text), func(r rune) bool { return r <= ' ' || r == 0x7f }), " ")
	text = marks.ReplaceAllString(text, `\$0`)
	return begins.ReplaceAllString(text, `$1\$2$3`)
}

// longest returns the length of the longest run of the character.
func longest(text string, c rune) (most int) {
	run := 0
	for _, r := range text {
		if r != c {
			run = 0
			continue
		}
		run++
		most = max(most, run)
	}
	return most
}
