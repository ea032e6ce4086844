package results

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
)

// A Table has the numbers of a result as text, for output formats other than the terminal's.
type Table struct {
	Title   string // what the rows are about
	Columns []Column
	Rows    [][]string // a cell for each column, with its unit
	Notes   []string   // caveats about the numbers, a line each
}

// A Column is a column of a Table.
type Column struct {
	Head string
	Over string // starts a heading over this and the following columns
	Left bool   // text, aligned left; numbers are aligned right
	// Begins says that the column is set apart from the one before it, and that no heading over that
	// column extends over this one.
	Begins bool
}

// Heading says in one line what was run.
func (f File) Heading() string { return heading(f) }

// Findings says what the file shows, one line or two for each recipe and backend.
func (f File) Findings() (lines []string) {
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

// Tables returns the numbers of all runs, in a table for each recipe and backend.
func (f File) Tables() (all []Table) {
	for _, runs := range byBackend(f.Runs) {
		title := runs[0].subject() + " on " + runs[0].Backend.title()
		if runs[0].Scenario != "" {
			title += ": " + strings.Join(runs[0].settings(), " · ")
		}
		all = append(all, tabled(title, table(runs, chosenOf(f.Percentiles, runs)), func(w io.Writer) {
			if line := repeated(runs); line != "" {
				fmt.Fprintln(w, line)
			}
			warn(w, runs)
		}))
		if g := recoveryTable(runs); g != nil {
			all = append(all, tabled("What was broken, and what the clients had of it: "+title, g, func(io.Writer) {}))
		}
	}
	return all
}

// Heading says in one line what was swept.
func (s Sweep) Heading() string { return s.heading() }

// Findings says what the sweep shows.
func (s Sweep) Findings() []string { return s.finding() }

// Tables returns the medians of all levels, in a table for each recipe and backend.
func (s Sweep) Tables() (all []Table) {
	for _, levels := range s.tables() {
		title := levels[0].Recipe + " on " + levels[0].Backend.title()
		all = append(all, tabled(title, s.table(levels), func(w io.Writer) { s.warn(w, levels) }))
	}
	return all
}

// Notes returns the curves fitted to the levels and the limits of each form, a line each.
func (s Sweep) Notes() []string {
	return written(func(w io.Writer) {
		s.ranges(w)
		s.curves(w)
		s.capacities(w)
	})
}

// Heading says in one line what was counted.
func (r CountReport) Heading() string {
	var of []string
	for _, s := range r.Settled {
		if name := s.Recipe + "/" + s.Form; !slices.Contains(of, name) {
			of = append(of, name)
		}
	}
	return "stampede count · " + strings.Join(of, ", ") + " · settled"
}

// Findings says what the counts show.
func (r CountReport) Findings() []string { return countFinding(r) }

// Tables returns the counts, in a table for each recipe, backend and number of clients.
func (r CountReport) Tables() (all []Table) {
	for _, group := range grouped(r.Settled) {
		t := Table{
			Title: fmt.Sprintf("%s · N = %d%s · %s", group[0].Recipe, group[0].Clients, letters(group), group[0].Backend.Server),
			Columns: []Column{{Head: "form", Left: true}, {Head: "notifications", Left: true}, {Head: "reads", Left: true}, {Head: "writes (failed)", Left: true},
				{Head: "largest fan-out", Left: true}, {Head: "model", Left: true}, {Head: "server", Left: true}},
		}
		for _, s := range group {
			t.Rows = append(t.Rows, s.cells())
		}
		all = append(all, t)
	}
	return all
}

// tabled converts a grid to a Table, with the lines that warn writes as notes.
func tabled(title string, g *grid, warn func(io.Writer)) Table {
	t := Table{Title: title, Rows: g.rows, Notes: written(warn)}
	for _, c := range g.columns {
		t.Columns = append(t.Columns, Column{Head: c.head, Over: c.over, Left: c.left, Begins: c.space > 2 || c.alone})
	}
	t.Columns[0].Over = "" // the title says it
	return t
}

// written returns the lines that write writes for the terminal, without the indentation.
func written(write func(io.Writer)) (lines []string) {
	var b bytes.Buffer
	write(&b)
	for line := range strings.Lines(b.String()) {
		if line = strings.TrimPrefix(strings.TrimRight(line, " \n"), "  "); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// CommandLine quotes a command for a shell.
func CommandLine(args []string) string { return commandLine(args) }

// Label returns a phase's name for people: "hand-off".
func Label(phase string) string { return label(phase) }

// Telling returns the phase that shows a herd's effect first: the hand-off if the recipe has one,
// otherwise the first phase; "" for a run without phases.
func (r Run) Telling() string { return tailPhase(r) }

// Waited returns how long clients waited in the phase: from when it was due, if that was measured. It
// is nil if nothing was measured.
func (r Run) Waited(phase string) *Distribution { return r.latency(phase) }

// Holding counts the runs that have identities of their counts, and those among them in which all
// identities hold.
func Holding(runs []Run) (hold, of int) {
	for _, r := range runs {
		if e := r.Cost.Expected; e != nil && len(e.Identities) > 0 {
			of++
			if !slices.ContainsFunc(e.Identities, func(i Identity) bool { return !i.Holds }) {
				hold++
			}
		}
	}
	return hold, of
}
