// Package reference puts runs beside the figures of a published measurement.
package reference

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/units"
)

// A Row is a row of the reference's figures or of ours; an unknown figure is 0.
type Row struct {
	Label    string
	figures  []float64
	theirs   bool
	scenario string // of one of our rows, unless the scenarios are the columns
}

// Figure formats the i-th figure: in full in the reference's rows, with three digits in ours.
func (b Row) Figure(i int) string {
	switch v := b.figures[i]; {
	case v == 0:
		return units.Absent
	case b.theirs:
		return units.Group(strconv.FormatFloat(v, 'f', -1, 64))
	default:
		return units.Rate(v)
	}
}

// Share formats the ratio of the i-th figure to the first.
func (b Row) Share(i int) string {
	if b.figures[i] == 0 {
		return units.Absent
	}
	return units.Rate(b.figures[i] / b.figures[0])
}

// Rows returns the reference's rows, each followed by our rows of the scenario with its label, and
// then our rows that belong to none of them.
func Rows(r *results.Reference, runs []results.Run) (rows []Row) {
	left := ourRows(r, runs)
	for _, row := range r.Rows {
		rows = append(rows, Row{Label: row.Label + ", theirs", figures: row.Figures, theirs: true})
		left = slices.DeleteFunc(left, func(ours Row) bool {
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
func ourRows(r *results.Reference, runs []results.Run) (rows []Row) {
	for _, run := range runs {
		column, row := fmt.Sprint(run.Clients), Row{Label: run.Scenario + ", " + run.Form, scenario: run.Scenario}
		if r.Across == results.AcrossScenarios {
			column, row = run.Scenario, Row{Label: fmt.Sprintf("%s/%s, %s", run.Recipe, run.Form, units.Clients(run.Clients))}
		}
		row.Label += " on " + run.Backend.URL
		at := slices.Index(r.Columns, column)
		if at < 0 {
			continue
		}
		i := slices.IndexFunc(rows, func(other Row) bool { return other.Label == row.Label })
		if i < 0 {
			i, row.figures = len(rows), make([]float64, len(r.Columns))
			rows = append(rows, row)
		}
		rows[i].figures[at] = figureOf(r.Figure, run)
	}
	return rows
}

// figureOf returns the figure of a run that a reference has.
func figureOf(name string, run results.Run) float64 {
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
