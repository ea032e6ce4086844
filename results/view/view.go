package view

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/stampede-bench/stampede/results"
)

// A Page is the text of a result for people, in parts, for a format other than that of
// WriteTable.
type Page struct {
	Heading  string   // what was run, in one line
	Broken   string   // a note that the command was ended early; "" if it was not
	Finding  []string // what the result shows, a sentence or two each
	Tables   []Table
	Warnings []string // caveats about the numbers
	Notes    []string // what was skipped, and what was checked
	Command  string   // the command that repeats the run; "" if it was not recorded
}

// Page returns the file's text for people.
func (f file) Page() Page {
	p := Page{Heading: f.Heading(), Finding: f.Findings(), Tables: f.Tables(), Command: CommandLine(f.Command)}
	if f.Interrupted {
		p.Broken = interrupted
	}
	_, besideWarnings := beside(f.Runs)
	p.Warnings = append(warnings(p.Tables), besideWarnings...)
	p.Notes = append(skipped(f.Skipped), identities(f.Runs)...)
	return p
}

// Page returns the sweep's text for people.
func (s sweep) Page() Page {
	p := Page{Heading: s.Heading(), Finding: s.Findings(), Tables: s.Tables(), Command: CommandLine(s.Command)}
	if s.Interrupted {
		p.Broken = s.progress()
	}
	p.Warnings = warnings(p.Tables)
	p.Notes = slices.Concat(skipped(s.Skipped), safety(s.Runs), identities(s.Runs))
	return p
}

// Page returns the report's text for people.
func (r countReport) Page() Page {
	return Page{Heading: r.Heading(), Finding: r.Findings(), Tables: r.Tables(), Notes: skipped(r.Skipped), Command: CommandLine(r.Command)}
}

// warnings returns the warnings of all tables.
func warnings(tables []Table) (all []string) {
	for _, t := range tables {
		all = append(all, t.Warnings...)
	}
	return all
}

// texts returns the text of each warning.
func texts(warnings []results.Warning) (all []string) {
	for _, w := range warnings {
		all = append(all, w.Text)
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

// A Table has the numbers of a result as text, for output formats other than the terminal's.
type Table struct {
	Title    string // what the rows are about
	Columns  []Column
	Rows     [][]string // a cell for each column, with its unit
	Warnings []string   // a line each
	Notes    []string   // what explains the numbers, a line each
}

// A Column is a column of a Table.
type Column struct {
	Head string
	Over string // starts a heading over this and the following columns
	Left bool   // text, aligned left; numbers are aligned right
	// Verdicts are those that the cells show, by row; "" stands for none. They are nil in a column of
	// anything else.
	Verdicts []results.Verdict
	// Begins says that the column is set apart from the one before it, and that no heading over that
	// column extends over this one.
	Begins bool
}

// Findings says what the file shows, one line or two for each recipe and backend.
func (f file) Findings() (lines []string) {
	groups := byBackend(f.Runs)
	if len(groups) == 0 {
		return []string{nothing}
	}
	for _, runs := range groups {
		found := finding(runs, chosenOf(f.Percentiles, runs))
		found[0] = where(f.Runs, runs[0]) + found[0]
		lines = append(lines, found...)
	}
	return lines
}

// Tables returns the numbers of all runs, in a table for each recipe and backend, and one of the agents.
func (f file) Tables() (all []Table) {
	for _, runs := range byBackend(f.Runs) {
		title := subjectOf(runs[0]) + " on " + serverName(runs[0].Backend)
		if runs[0].Scenario != "" {
			title += ": " + strings.Join(settingsOf(runs[0]), " · ")
		}
		var notes []string
		if line := repeated(runs); line != "" {
			notes = append(notes, line)
		}
		all = append(all, tabled(title, table(runs, chosenOf(f.Percentiles, runs)), notes, warningsOf(runs)))
		if g := recoveryTable(runs); g != nil {
			all = append(all, tabled("Faults and recovery: "+title, g, nil, nil))
		}
	}
	return append(all, agentTables(f.Runs)...)
}

// Tables returns the medians of all levels, in a table for each recipe and backend, the curves fitted
// to them, and the limits of each form.
func (s sweep) Tables() (all []Table) {
	for _, rows := range s.tables() {
		title := rows[0].Recipe + " on " + serverName(rows[0].Backend)
		all = append(all, tabled(title, s.table(rows), s.ranges(), s.warnings(rows)))
	}
	return append(append(all, filled(s.curves(), s.capacities())...), agentTables(s.Runs)...)
}

// filled returns the tables that have rows.
func filled(tables ...Table) []Table {
	return slices.DeleteFunc(tables, func(t Table) bool { return len(t.Rows) == 0 })
}

// Heading names the counted recipes and the backend in one line.
func (r countReport) Heading() string {
	var of []string
	for _, s := range r.Settled {
		if name := s.Recipe + "/" + s.Form; !slices.Contains(of, name) {
			of = append(of, name)
		}
	}
	return "stampede count · " + strings.Join(of, ", ") + " · settled"
}

// Tables returns the counts, in a table for each recipe, backend and number of clients, and the growth
// of the costs.
func (r countReport) Tables() (all []Table) {
	for _, group := range grouped(r.Settled) {
		title := fmt.Sprintf("%s · N = %d%s · %s", group[0].Recipe, group[0].Clients, letters(group), group[0].Backend.Server)
		all = append(all, tabled(title, countGrid(group), nil, nil))
	}
	return append(all, filled(costGrowth(r.Settled))...)
}

// tabled converts a grid to a Table.
func tabled(title string, g *grid, notes, warnings []string) Table {
	t := Table{Title: title, Rows: g.rows, Warnings: warnings, Notes: notes}
	for _, c := range g.columns {
		t.Columns = append(t.Columns, Column{Head: c.head, Over: c.over, Left: c.left, Begins: c.space > 2 || c.alone, Verdicts: c.verdicts})
	}
	t.Columns[0].Over = "" // the title says it
	return t
}

// Write writes the table for a terminal, its notes and its warnings, without its title.
func (t Table) Write(w io.Writer, o Options) {
	if len(t.Rows) > 0 {
		g := &grid{rows: t.Rows, names: 1}
		for i, c := range t.Columns {
			g.columns = append(g.columns, column{head: c.Head, over: c.Over, left: c.Left, space: 2 * min(i, 1), verdicts: c.Verdicts})
		}
		g.coloured(o).write(w)
	}
	writeLines(w, "", t.Notes)
	writeLines(w, "warning: ", t.Warnings)
}

// writePlain writes the rows for a terminal, without headings: for columns of text that say what they
// are about.
func (t Table) writePlain(w io.Writer) {
	if len(t.Rows) == 0 {
		return
	}
	fmt.Fprintln(w)
	columns := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range t.Rows {
		fmt.Fprintf(columns, "  %s\n", strings.Join(row, "\t"))
	}
	columns.Flush() // the caller writes into memory
}

// A View is a result as text for people.
type View interface {
	// Heading names the measurement and the machine in one line.
	Heading() string
	// Findings says what the result shows, a sentence or two each.
	Findings() []string
	// Tables returns the numbers.
	Tables() []Table
	// Page returns all parts, for formats other than the terminal's.
	Page() Page
	// WriteTable writes all parts as the terminal shows them.
	WriteTable(io.Writer, Options) error
}

// Of returns the view of a result of any kind.
func Of(r results.Result) View {
	switch r := r.(type) {
	case results.Sweep:
		return sweep{r}
	case results.CountReport:
		return countReport{r}
	case results.Comparison:
		return comparison{r}
	case results.Calibration:
		return calibration{r}
	case results.History:
		return history{r}
	}
	return file{r.(results.File)}
}

// These types give each kind of result its view.
type (
	file        struct{ results.File }
	sweep       struct{ results.Sweep }
	countReport struct{ results.CountReport }
	comparison  struct{ results.Comparison }
	calibration struct{ results.Calibration }
	history     struct{ results.History }
)
