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
			t.Warnings = append(t.Warnings, Warning{"not-the-same-" + of.name, fmt.Sprintf("not the same %s (%s): %s", of.name, strings.Join(values, ", "), of.why)})
		}
	}
	return t
}

// beside returns the runs beside the file's reference: each figure, and its ratio to the first figure of
// its row. The ratios can be compared although the two rigs differ.
func beside(f results.File) Table {
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
	label   string
	figures []float64
	theirs  bool
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
	ours := ours(r, runs)
	for _, row := range r.Rows {
		rows = append(rows, besideRow{row.Label + ", theirs", row.Figures, true})
		for _, o := range ours {
			if o.scenario == row.Label {
				rows = append(rows, o.besideRow)
			}
		}
	}
	for _, o := range ours {
		if !slices.ContainsFunc(r.Rows, func(row results.ReferenceRow) bool { return row.Label == o.scenario }) {
			rows = append(rows, o.besideRow)
		}
	}
	return rows
}

// An ourRow is a row of our figures, with its scenario unless the scenarios are the columns.
type ourRow struct {
	besideRow
	scenario string
}

// ours returns our runs as rows. Runs that differ only in what distinguishes the columns share a
// row.
func ours(r *results.Reference, runs []results.Run) (rows []ourRow) {
	for _, run := range runs {
		at := slices.Index(r.Columns, columnOf(r, run))
		if at < 0 {
			continue
		}
		row := ourRow{besideRow: besideRow{label: ourLabel(r, run), figures: make([]float64, len(r.Columns))}}
		if r.Across == results.AcrossClients {
			row.scenario = run.Scenario
		}
		i := slices.IndexFunc(rows, func(other ourRow) bool { return other.label == row.label })
		if i < 0 {
			i = len(rows)
			rows = append(rows, row)
		}
		rows[i].figures[at] = figureOf(r, run)
	}
	return rows
}

func columnOf(r *results.Reference, run results.Run) string {
	if r.Across == results.AcrossScenarios {
		return run.Scenario
	}
	return fmt.Sprint(run.Clients)
}

func ourLabel(r *results.Reference, run results.Run) string {
	what := fmt.Sprintf("%s, %s", run.Recipe+"/"+run.Form, units.Clients(run.Clients))
	if r.Across == results.AcrossClients {
		what = fmt.Sprintf("%s, %s", run.Scenario, run.Form)
	}
	return what + " on " + run.Backend.URL
}

func figureOf(r *results.Reference, run results.Run) float64 {
	switch {
	case r.Figure == results.Seconds:
		return run.DurationNS.Seconds()
	case r.Figure == results.CreatesPerS && run.IsMix():
		return run.ThroughputPerS * (1 - run.ReadRatio.Achieved) * run.Mix.Creates
	case r.Figure == results.CreatesPerS:
		return 0
	}
	return run.ThroughputPerS
}
