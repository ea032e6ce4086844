package render

import (
	"cmp"
	"html/template"
	"slices"
	"strings"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/charts"
	"github.com/stampede-bench/stampede/results/document"
	"github.com/stampede-bench/stampede/results/units"
)

// A board is the table of the subjects on one machine that have the same figures: a row for each subject, and
// a column for each figure.
type board struct {
	Machine string
	Again   bool // the table before it is of the same machine
	Figures []string
	Shown   []lane
	Folded  []lane // those without a change, where a site has many subjects
}

// A lane is the row of a subject. Its cells are in the order of the board's figures.
type lane struct {
	Of    string
	Cells []spark
}

// A spark is a figure in a cell.
type spark struct{ results.Trend }

// fewLanes is the number of subjects of which a page shows all. Of more it shows those with a change, if there
// are any.
const fewLanes = 6

// boards returns a table for each machine and set of figures, in the order of the figures.
func boards(all []results.Trend) (tables []board) {
	lanes := lanesOf(all)
	fold := len(lanes) > fewLanes && slices.ContainsFunc(lanes, func(l lane) bool { return !l.steady() })
	for _, l := range lanes {
		machine, figures := l.Cells[0].Machine, l.figures()
		at := slices.IndexFunc(tables, func(b board) bool { return b.Machine == machine && slices.Equal(b.Figures, figures) })
		if at < 0 {
			at = len(tables)
			tables = append(tables, board{Machine: machine, Figures: figures})
		}
		b := &tables[at]
		if fold && l.steady() {
			b.Folded = append(b.Folded, l)
		} else {
			b.Shown = append(b.Shown, l)
		}
	}
	for _, b := range tables {
		slices.SortStableFunc(b.Shown, func(x, y lane) int { return cmp.Compare(x.order(), y.order()) })
	}
	slices.SortStableFunc(tables, func(x, y board) int { return cmp.Compare(min(1, len(y.Shown)), min(1, len(x.Shown))) })
	for i := 1; i < len(tables); i++ {
		tables[i].Again = tables[i].Machine == tables[i-1].Machine
	}
	return tables
}

// lanesOf groups figures by subject and machine.
func lanesOf(all []results.Trend) (lanes []lane) {
	at := map[[2]string]int{}
	for _, t := range all {
		key := [2]string{t.Of, t.Machine}
		i, known := at[key]
		if !known {
			i, at[key] = len(lanes), len(lanes)
			lanes = append(lanes, lane{Of: t.Of})
		}
		lanes[i].Cells = append(lanes[i].Cells, spark{t})
	}
	return lanes
}

func (l lane) figures() (names []string) {
	for _, c := range l.Cells {
		names = append(names, c.Figure)
	}
	return names
}

// steady reports whether no figure of the subject ever changed.
func (l lane) steady() bool {
	return !slices.ContainsFunc(l.Cells, func(c spark) bool { return len(c.Changes) > 0 })
}

// order returns the place of the subject: regressions first, then other changes, then none.
func (l lane) order() int {
	switch {
	case slices.ContainsFunc(l.Cells, func(c spark) bool { return c.Verdict() == results.Regression }):
		return 0
	case l.steady():
		return 2
	}
	return 1
}

// breakable lets the name of a figure break after its dots and underscores.
func breakable(figure string) template.HTML {
	return template.HTML(strings.NewReplacer(".", ".<wbr>", "_", "_<wbr>").Replace(template.HTMLEscapeString(figure)))
}

// Drawn returns the figure as a small drawing, "" if all its results are left out.
func (s spark) Drawn() template.HTML {
	if len(s.Points) == 0 {
		return ""
	}
	return template.HTML(charts.Sparkline(s.Trend))
}

// Label returns the name of the figure for a style sheet, which can break it where breakable does: it shows no elements, but
// knows a space without width.
func (s spark) Label() string {
	return strings.NewReplacer(".", ".\u200b", "_", "_\u200b").Replace(s.Figure)
}

// Last returns the last value, or why there is none: the notes of the page say how many results are left out.
func (s spark) Last() string {
	if len(s.Points) == 0 {
		return "left out"
	}
	return units.Value(s.Points[len(s.Points)-1].Number(), s.Unit)
}

// Change returns the size of the newest change, "" if there is none.
func (s spark) Change() string {
	if c := s.Newest(); c != nil {
		return document.SizeOf(*c)
	}
	return ""
}

// Chart returns the id of the figure's chart. Only a figure with a change has one.
func (s spark) Chart() string { return charts.Trend(s.Trend).Name }

// A moved is a figure with its changes, the newest first, and its chart.
type moved struct {
	results.Trend
	charts.Chart
	Size  string // of the newest change
	Since []since
}

// A since is a change in words, which name the result that shows it first.
type since struct{ Before, Result, After string }

// movedIn returns the figures that ever changed, those with a regression first.
func movedIn(all []results.Trend) (figures []moved) {
	for _, t := range all {
		if len(t.Changes) == 0 {
			continue
		}
		m := moved{Trend: t, Chart: charts.Trend(t), Size: document.SizeOf(*t.Newest())}
		for _, c := range slices.Backward(t.Changes) {
			id := t.Points[c.At].Result
			before, after, _ := strings.Cut(document.DescribeChange(t, c), ", result "+id)
			m.Since = append(m.Since, since{before + ", result ", id, after})
		}
		figures = append(figures, m)
	}
	rank := func(m moved) int {
		return slices.Index([]results.Verdict{results.Regression, results.Invalid, results.Improvement, results.Pass, ""}, m.Verdict())
	}
	slices.SortStableFunc(figures, func(x, y moved) int { return cmp.Compare(rank(x), rank(y)) })
	return figures
}
