package results

import (
	"io"
	"slices"
	"strings"
)

// A Page is what a result says to people, in parts, for whatever shows it in
// another form than WriteTable does.
type Page struct {
	Heading  string   // what was run, in one line
	Broken   string   // that it was ended early, "" if it was not
	Finding  []string // what it shows, a sentence or two each
	Tables   []Table
	Aligned  []string // lines of words in columns, which go below the tables
	Warnings []string // what to mind of the numbers
	Notes    []string // what was left out, and what was checked
	Command  string   // that does the same again, "" if it was not noted
}

// Page is what the file says.
func (f File) Page() Page {
	p := Page{Heading: f.Heading(), Finding: f.Findings(), Tables: f.Tables(), Command: CommandLine(f.Command)}
	if f.Interrupted {
		p.Broken = interrupted
	}
	p.Warnings = append(warnings(p.Tables), warned(written(func(w io.Writer) { beside(w, f.Runs) }))...)
	p.Notes = append(skipped(f.Skipped), written(func(w io.Writer) { identities(w, f.Runs) })...)
	return p
}

// Page is what the sweep says.
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

// Page is what the report says.
func (r CountReport) Page() Page {
	// It writes into memory and cannot fail.
	growth := written(func(w io.Writer) { _ = growthRows(w, r.Settled) })
	return Page{Heading: r.Heading(), Finding: r.Findings(), Tables: r.Tables(), Aligned: growth, Notes: skipped(r.Skipped)}
}

// warnings are those of all tables.
func warnings(tables []Table) (all []string) {
	for _, t := range tables {
		all = append(all, warned(t.Notes)...)
	}
	return all
}

// texts are the warnings as people read them.
func texts(warnings []Warning) (all []string) {
	for _, w := range warnings {
		all = append(all, w.Text)
	}
	return all
}

// warned are the lines that warn, without the word for it.
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
