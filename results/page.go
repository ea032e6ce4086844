package results

import (
	"io"
	"slices"
	"strings"
)

// A Page is the text of a result for people, in parts, for a format other than that of
// WriteTable.
type Page struct {
	Heading  string   // what was run, in one line
	Broken   string   // a note that the command was ended early; "" if it was not
	Finding  []string // what the result shows, a sentence or two each
	Tables   []Table
	Aligned  []string // text in columns, shown below the tables
	Warnings []string // caveats about the numbers
	Notes    []string // what was skipped, and what was checked
	Command  string   // the command that repeats the run; "" if it was not recorded
}

// Page returns the file's text for people.
func (f File) Page() Page {
	p := Page{Heading: f.Heading(), Finding: f.Findings(), Tables: f.Tables(), Command: CommandLine(f.Command)}
	if f.Interrupted {
		p.Broken = interrupted
	}
	p.Warnings = append(warnings(p.Tables), warned(written(func(w io.Writer) { beside(w, f.Runs) }))...)
	p.Notes = append(skipped(f.Skipped), written(func(w io.Writer) { identities(w, f.Runs) })...)
	return p
}

// Page returns the sweep's text for people.
func (s Sweep) Page() Page {
	p := Page{Heading: s.Heading(), Finding: s.Findings(), Tables: s.Tables(), Aligned: s.Notes(), Command: CommandLine(s.Command)}
	if s.Interrupted {
		p.Broken = s.progress()
	}
	p.Warnings = warnings(p.Tables)
	p.Notes = append(skipped(s.Skipped), written(func(w io.Writer) {
		safety(w, s.Runs)
		identities(w, s.Runs)
	})...)
	return p
}

// Page returns the report's text for people.
func (r CountReport) Page() Page {
	// growthRows writes into memory and cannot fail.
	growth := written(func(w io.Writer) { _ = growthRows(w, r.Settled) })
	return Page{Heading: r.Heading(), Finding: r.Findings(), Tables: r.Tables(), Aligned: growth, Notes: skipped(r.Skipped)}
}

// warnings returns the warnings of all tables.
func warnings(tables []Table) (all []string) {
	for _, t := range tables {
		all = append(all, warned(t.Notes)...)
	}
	return all
}

// texts returns the text of each warning.
func texts(warnings []Warning) (all []string) {
	for _, w := range warnings {
		all = append(all, w.Text)
	}
	return all
}

// warned returns the lines that are warnings, without their prefix.
func warned(lines []string) (all []string) {
	const warning = "warning: "
	for _, line := range lines {
		if text, ok := strings.CutPrefix(line, warning); ok {
			all = append(all, text)
		}
	}
	return all
}

func skipped(lines []string) []string {
	notes := slices.Clone(lines)
	for i := range notes {
		notes[i] = "skipped: " + notes[i]
	}
	return notes
}
