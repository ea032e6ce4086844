package document

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/units"
)

// A trait is a property of a backend, and the reason why numbers of backends that differ in it are
// hard to compare.
type trait struct {
	name string
	of   func(results.Backend) string
	why  string
}

func traits() []trait {
	return []trait{
		{"durability", func(b results.Backend) string { return b.Durability }, "a write that waits for a disk takes longer than one that does not"},
		{"client", func(b results.Backend) string { return b.Client }, "part of the difference is the client libraries'"},
		{"reads", func(b results.Backend) string { return b.Reads }, "one reads what may be old, the other makes sure or waits"},
	}
}

// sideBySide returns the traits of several backends, and a warning for each in which the backends differ.
// The table is empty if there is only one backend.
func sideBySide(runs []results.Run) Table {
	var backends []results.Backend
	for _, r := range runs {
		if !slices.Contains(backends, r.Backend) {
			backends = append(backends, r.Backend)
		}
	}
	t := Table{Title: "side by side", Columns: columns(3, "<side by side")}
	if len(backends) < 2 {
		return t
	}
	for _, b := range backends {
		t.Rows = append(t.Rows, []string{b.URL})
	}
	for _, of := range traits() {
		t.add(Column{Head: of.name, Left: true, Gap: 3}, func(i int) string { return cmp.Or(of.of(backends[i]), units.Absent) })
		var values []string
		for _, b := range backends {
			if v := cmp.Or(of.of(b), units.Absent); !slices.Contains(values, v) {
				values = append(values, v)
			}
		}
		if len(values) > 1 {
			text := fmt.Sprintf("not the same %s (%s): %s", of.name, strings.Join(values, ", "), of.why)
			t.Warnings = append(t.Warnings, Warning{"not-the-same-" + of.name, text})
		}
	}
	return t
}

// referenceTable returns the runs beside the file's reference: each figure, and its ratio to the first figure of
// its row. The ratios can be compared although the two rigs differ.
func referenceTable(f results.File) Table {
	r := f.Reference
	if r == nil {
		return Table{}
	}
	runs := f.Runs
	if f.Interrupted && len(runs) > 0 {
		runs = runs[:len(runs)-1] // the last run may be partial
	}
	rows := rowsBeside(r, runs)
	t := Table{Title: "beside " + r.Source, Columns: columns(0, "<"+r.Across), Notes: prefixed("not the same: ", r.Differs)}
	for _, row := range rows {
		t.Rows = append(t.Rows, []string{row.label})
	}
	add := func(over string, cell func(besideRow, int) string) {
		for i, name := range r.Columns {
			c := Column{Head: name}
			if i == 0 {
				c.Over, c.Gap = over, 4
			}
			t.add(c, func(j int) string { return cell(rows[j], i) })
		}
	}
	add(r.Figure, besideRow.figure)
	add("of the first", besideRow.share)
	return t
}

// A besideRow is a row of the reference's figures or of ours; an unknown figure is 0.
type besideRow struct {
	label    string
	figures  []float64
	theirs   bool
	scenario string // of one of our rows, unless the scenarios are the columns
}

// figure formats the i-th figure: in full in the reference's rows, with three digits in ours.
func (b besideRow) figure(i int) string {
	switch v := b.figures[i]; {
	case v == 0:
		return units.Absent
	case b.theirs:
		return units.Group(strconv.FormatFloat(v, 'f', -1, 64))
	default:
		return units.Rate(v)
	}
}

// share formats the ratio of the i-th figure to the first.
func (b besideRow) share(i int) string {
	if b.figures[i] == 0 {
		return units.Absent
	}
	return units.Rate(b.figures[i] / b.figures[0])
}

// rowsBeside returns the reference's rows, each followed by our rows of the scenario with its label, and
// then our rows that belong to none of them.
func rowsBeside(r *results.Reference, runs []results.Run) (rows []besideRow) {
	left := ourRows(r, runs)
	for _, row := range r.Rows {
		rows = append(rows, besideRow{label: row.Label + ", theirs", figures: row.Figures, theirs: true})
		left = slices.DeleteFunc(left, func(ours besideRow) bool {
			if ours.scenario != row.Label {
				return false
			}
			rows = append(rows, ours)
			return true
		})
	}
	return append(rows, left...)
}

// ourRows returns our runs as rows. Runs that differ only in what distinguishes the columns share a row.
func ourRows(r *results.Reference, runs []results.Run) (rows []besideRow) {
	for _, run := range runs {
		column, row := fmt.Sprint(run.Clients), besideRow{label: run.Scenario + ", " + run.Form, scenario: run.Scenario}
		if r.Across == results.AcrossScenarios {
			column, row = run.Scenario, besideRow{label: fmt.Sprintf("%s/%s, %s", run.Recipe, run.Form, units.Clients(run.Clients))}
		}
		row.label += " on " + run.Backend.URL
		at := slices.Index(r.Columns, column)
		if at < 0 {
			continue
		}
		i := slices.IndexFunc(rows, func(other besideRow) bool { return other.label == row.label })
		if i < 0 {
			i, row.figures = len(rows), make([]float64, len(r.Columns))
			rows = append(rows, row)
		}
		rows[i].figures[at] = referenceFigure(r.Figure, run)
	}
	return rows
}

// referenceFigure returns the figure of a run that a reference has.
func referenceFigure(name string, run results.Run) float64 {
	switch {
	case name == results.Seconds:
		return run.DurationNS.Seconds()
	case name == results.CreatesPerS && run.IsMix():
		return run.ThroughputPerS * (1 - run.ReadRatio.Achieved) * run.Mix.Creates
	case name == results.CreatesPerS:
		return 0
	}
	return run.ThroughputPerS
}
