package results

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
)

// A Table is the numbers of a result as text, for whoever draws tables otherwise
// than the terminal does.
type Table struct {
	Title   string // what its rows are of
	Columns []Column
	Rows    [][]string // a cell for each column, with its unit
	Notes   []string   // what to mind of the numbers, a line each
}

// A Column of a Table.
type Column struct {
	Head string
	Over string // begins a heading over this and the following columns
	Left bool   // text; numbers are set right
	// Begins: it stands apart from the column before it, and nothing over that is
	// over it.
	Begins bool
}

// Heading says in one line what was run.
func (f File) Heading() string { return heading(f) }

// Findings say in words what the file shows, one line or two for each recipe and
// backend.
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

// Tables are the numbers of all runs, those of one recipe on one backend together.
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

// Findings say in words what the sweep shows.
func (s Sweep) Findings() []string { return s.finding() }

// Tables are the medians of all levels, those of one recipe on one backend together.
func (s Sweep) Tables() (all []Table) {
	for _, levels := range s.tables() {
		title := levels[0].Recipe + " on " + levels[0].Backend.title()
		all = append(all, tabled(title, s.table(levels), func(w io.Writer) { s.warn(w, levels) }))
	}
	return all
}

// Notes are the curves through the levels and what limits each form, a line each.
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

// Findings say in words what the counts show.
func (r CountReport) Findings() []string { return countFinding(r) }

// Tables are the counts of each recipe, backend and number of clients.
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

// tabled is a grid with what warn writes of it.
func tabled(title string, g *grid, warn func(io.Writer)) Table {
	t := Table{Title: title, Rows: g.rows, Notes: written(warn)}
	for _, c := range g.columns {
		t.Columns = append(t.Columns, Column{Head: c.head, Over: c.over, Left: c.left, Begins: c.space > 2 || c.alone})
	}
	t.Columns[0].Over = "" // it is the title
	return t
}

// written are the lines that something writes for the terminal, without the indent.
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

// CommandLine is a command as a shell takes it.
func CommandLine(args []string) string { return commandLine(args) }

// Label is a phase as people write it: "hand-off".
func Label(phase string) string { return label(phase) }

// Telling is the phase that shows first what a herd does: the hand-off where the
// recipe has one, else its first; "" of a run without phases.
func (r Run) Telling() string { return tailPhase(r) }

// Waited is what clients waited in the phase: from when it was due, where that was
// measured. It is nil where nothing was.
func (r Run) Waited(phase string) *Distribution { return r.latency(phase) }

// Holding counts the runs of which relations of their counts are known, and those
// in which all of these hold.
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
