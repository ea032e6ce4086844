package results

import (
	"fmt"
	"io"
	"slices"
	"strconv"
)

// compare writes the runs beside the file's reference: each figure, and its ratio to the first
// figure of its row. The ratios can be compared although the two rigs differ.
func (f File) compare(w io.Writer) {
	if f.Reference == nil {
		return
	}
	r := f.Reference
	runs := f.Runs
	if f.Interrupted && len(runs) > 0 {
		runs = runs[:len(runs)-1] // the last run may be partial
	}
	rows := r.beside(runs)
	g := &grid{columns: []column{{head: r.Across, left: true}}, rows: make([][]string, len(rows))}
	for i, row := range rows {
		g.rows[i] = []string{row.label}
	}
	r.columns(g, rows, r.Figure, besideRow.figure)
	r.columns(g, rows, "of the first", besideRow.ofTheFirst)
	fmt.Fprintf(w, "\n  beside %s\n", r.Source)
	g.write(w)
	for _, line := range r.Differs {
		fmt.Fprintf(w, "  not the same: %s\n", line)
	}
}

// columns adds a column of cells for each column of the reference.
func (r *Reference) columns(g *grid, rows []besideRow, over string, cell func(besideRow, int) string) {
	for i, name := range r.Columns {
		c := column{head: name, space: 2}
		if i == 0 {
			c.over, c.space = over, 4
		}
		g.columns = append(g.columns, c)
		for j, row := range rows {
			g.rows[j] = append(g.rows[j], cell(row, i))
		}
	}
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
		return absent
	case b.theirs:
		return group(strconv.FormatFloat(v, 'f', -1, 64))
	default:
		return Rate(v)
	}
}

// ofTheFirst formats the ratio of the i-th figure to the first.
func (b besideRow) ofTheFirst(i int) string {
	if b.figures[i] == 0 {
		return absent
	}
	return Rate(b.figures[i] / b.figures[0])
}

// beside returns the reference's rows, each followed by our rows of the scenario with its label, and
// then our rows that belong to none of them.
func (r *Reference) beside(runs []Run) (rows []besideRow) {
	ours := r.ours(runs)
	for _, row := range r.Rows {
		rows = append(rows, besideRow{row.Label + ", theirs", row.Figures, true})
		for _, o := range ours {
			if o.scenario == row.Label {
				rows = append(rows, o.besideRow)
			}
		}
	}
	for _, o := range ours {
		if !slices.ContainsFunc(r.Rows, func(row ReferenceRow) bool { return row.Label == o.scenario }) {
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
func (r *Reference) ours(runs []Run) (rows []ourRow) {
	for _, run := range runs {
		at := slices.Index(r.Columns, r.column(run))
		if at < 0 {
			continue
		}
		row := ourRow{besideRow: besideRow{label: r.label(run), figures: make([]float64, len(r.Columns))}}
		if r.Across == AcrossClients {
			row.scenario = run.Scenario
		}
		i := slices.IndexFunc(rows, func(other ourRow) bool { return other.label == row.label })
		if i < 0 {
			i = len(rows)
			rows = append(rows, row)
		}
		rows[i].figures[at] = r.figureOf(run)
	}
	return rows
}

func (r *Reference) column(run Run) string {
	if r.Across == AcrossScenarios {
		return run.Scenario
	}
	return fmt.Sprint(run.Clients)
}

func (r *Reference) label(run Run) string {
	what := fmt.Sprintf("%s, %s", run.Recipe+"/"+run.Form, Clients(run.Clients))
	if r.Across == AcrossClients {
		what = fmt.Sprintf("%s, %s", run.Scenario, run.Form)
	}
	return what + " on " + run.Backend.URL
}

func (r *Reference) figureOf(run Run) float64 {
	switch {
	case r.Figure == Seconds:
		return run.DurationNS.Seconds()
	case r.Figure == CreatesPerS && run.isMix():
		return run.ThroughputPerS * (1 - run.ReadRatio.Achieved) * run.Mix.Creates
	case r.Figure == CreatesPerS:
		return 0
	}
	return run.ThroughputPerS
}
