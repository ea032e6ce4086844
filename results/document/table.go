package document

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/contrast"
	"github.com/stampede-bench/stampede/results/levels"
	"github.com/stampede-bench/stampede/results/units"
)

// A Table has the numbers of a result as text.
type Table struct {
	Title    string // what the rows are about; a document has each title once
	Columns  []Column
	Rows     [][]string // a cell for each column, with its unit
	Warnings []Warning
	Notes    []string // what explains the numbers, a line each
	Leads    bool     // the table is what the document is about, and stands before charts
	// Contrast sums up the rows of a recipe, naive against herd-avoiding; nil if there is nothing to compare.
	Contrast []contrast.Level
}

// A Column is a column of a Table.
type Column struct {
	Head  string
	Over  string // starts a heading over this and the following columns; over the first column, it is the title
	Left  bool   // text, aligned left; numbers are aligned right
	Prose bool   // sentences, which a terminal wraps
	Key   bool   // the cell names the row, and is repeated where the columns do not fit side by side
	Gap   int    // the number of spaces before the column; 0 stands for 2
	// Verdicts are those that the cells show, by row; "" stands for none. They are nil in a column of
	// anything else.
	Verdicts []results.Verdict
	// Apart says that no heading over the columns before extends over this one.
	Apart bool
}

// Shown reports whether anything of the table is shown.
func (t Table) Shown() bool { return len(t.Rows)+len(t.Notes) > 0 }

// shown returns the tables that have anything to show.
func shown(tables ...Table) []Table {
	return slices.DeleteFunc(tables, func(t Table) bool { return !t.Shown() })
}

// Overs returns the heading over each column, besides the title; "" if there is none.
func (t Table) Overs() []string {
	all := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		switch {
		case c.Over == t.Title:
		case c.Over != "" || i == 0 || c.Apart || c.Gap > 2:
			all[i] = c.Over
		default:
			all[i] = all[i-1]
		}
	}
	return all
}

// columns returns columns with the given gap. A heading that begins with < is of text, aligned left, and
// the first column names the rows.
func columns(gap int, heads ...string) (all []Column) {
	for i, head := range heads {
		head, left := strings.CutPrefix(head, "<")
		all = append(all, Column{Head: head, Left: left, Gap: gap, Key: i == 0})
	}
	return all
}

// add adds a column with a cell for each row.
func (t *Table) add(c Column, cell func(row int) string) { t.insert(len(t.Columns), c, cell) }

func (t *Table) insert(at int, c Column, cell func(row int) string) {
	t.Columns = slices.Insert(t.Columns, at, c)
	for i := range t.Rows {
		t.Rows[i] = slices.Insert(t.Rows[i], at, cell(i))
	}
}

// insertAfter adds a column after the first of the given headings that the table has. It does nothing if
// the table has none of them.
func (t *Table) insertAfter(c Column, cell func(row int) string, heads ...string) {
	if i := slices.IndexFunc(heads, func(head string) bool { return t.place(head) >= 0 }); i >= 0 {
		t.insert(t.place(heads[i])+1, c, cell)
	}
}

// drop removes the column with the heading, if there is one.
func (t *Table) drop(head string) {
	at := t.place(head)
	if at < 0 {
		return
	}
	t.Columns = slices.Delete(t.Columns, at, at+1)
	for i := range t.Rows {
		t.Rows[i] = slices.Delete(t.Rows[i], at, at+1)
	}
}

// place returns the index of the column with the heading, -1 if there is none.
func (t *Table) place(head string) int {
	return slices.IndexFunc(t.Columns, func(c Column) bool { return c.Head == head })
}

// A runTable is a table with a row for each run, or for each group of repetitions.
type runTable struct {
	Table
	runs  []results.Run   // the first run of each row
	of    [][]results.Run // all runs of each row
	timed [][]results.Run // those of which each row has the median times
	spans [][]string      // the intervals of each row
	shown levels.Shown
}

func newRunTable(title string, runs []results.Run, shown levels.Shown) *runTable {
	s := &runTable{Table: Table{Title: title}, of: levels.Repetitions(runs), shown: shown}
	s.timed = s.of
	for _, row := range s.of {
		s.runs = append(s.runs, row[0])
	}
	s.Rows, s.spans = make([][]string, len(s.of)), make([][]string, len(s.of))
	return s
}

// text adds a column of values that all repetitions share, or of those of the first.
func (s *runTable) text(c Column, cell func(results.Run) string) {
	s.Columns = append(s.Columns, c)
	for i, r := range s.runs {
		s.Rows[i], s.spans[i] = append(s.Rows[i], cell(r)), append(s.spans[i], "")
	}
}

// keys adds the columns that name the rows: the number of clients, and the form if the recipe has forms.
func (s *runTable) keys(clients string, forms bool) {
	s.text(Column{Head: clients, Over: s.Title, Key: true}, func(r results.Run) string { return units.Count(int64(r.Clients)) })
	if forms {
		s.text(Column{Head: "form", Left: true, Key: true}, func(r results.Run) string { return r.Form })
	}
}

// figure adds a column of medians, with their intervals where runs were repeated.
func (s *runTable) figure(c Column, of func(results.Run) (float64, bool), write func(float64) string) {
	s.medians(c, s.of, of, write)
}

func (s *runTable) medians(c Column, rows [][]results.Run, of func(results.Run) (float64, bool), write func(float64) string) {
	s.Columns = append(s.Columns, c)
	for i, row := range rows {
		e, known := levels.Across(row, of)
		cell := units.Absent
		if known {
			cell = write(e.Value)
		}
		s.Rows[i], s.spans[i] = append(s.Rows[i], cell), append(s.spans[i], span(e, known, len(s.of[i]), write))
	}
}

// latency adds a column of durations, in a common unit if possible. A duration can be infinite.
func (s *runTable) latency(c Column, value func(results.Run) (float64, bool)) {
	var known []time.Duration
	for i, row := range s.timed {
		if e, ok := levels.Across(row, value); ok {
			for _, v := range []float64{e.Value, e.High}[:min(len(s.of[i]), 2)] { // High may have more digits than the median
				if !math.IsInf(v, 1) {
					known = append(known, time.Duration(v))
				}
			}
		}
	}
	common, fits := units.Common(known)
	s.medians(c, s.timed, value, func(v float64) string {
		switch {
		case math.IsInf(v, 1):
			return units.Infinite
		case fits:
			return common.Measure(time.Duration(v))
		}
		return duration(v)
	})
}

// finished returns the table, with a line of intervals below each row of repetitions.
func (s *runTable) finished() Table {
	s.Rows = interleaved(s, s.Rows, s.spans)
	for i, c := range s.Columns {
		if c.Verdicts != nil {
			s.Columns[i].Verdicts = interleaved(s, c.Verdicts, make([]results.Verdict, len(s.of)))
		}
	}
	return s.Table
}

// interleaved returns what belongs to the rows of the table, and after each row of repetitions what belongs
// to its line of intervals.
func interleaved[T any](s *runTable, rows, spans []T) (all []T) {
	for i := range rows {
		all = append(all, rows[i])
		if len(s.of[i]) > 1 {
			all = append(all, spans[i])
		}
	}
	return all
}

// rates adds columns for the throughput and, in an open loop, for the offered rate and the share that
// was late. It reports whether the loop is open.
func (s *runTable) rates(done string) (open bool) {
	open = slices.ContainsFunc(s.runs, results.Run.IsOpen)
	if open {
		s.figure(Column{Head: "offered/s"}, func(r results.Run) (float64, bool) { return r.OfferedPerS, r.IsOpen() }, units.Rate)
	}
	s.figure(Column{Head: done}, func(r results.Run) (float64, bool) { return r.ThroughputPerS, r.DurationNS > 0 }, units.Rate)
	if open {
		s.figure(Column{Head: "late"}, portion(func(r results.Run) (int64, int64) {
			return r.Generator.Late, r.Generator.Offered
		}), units.Share)
	}
	return open
}

// portion returns a figure that is the share part/whole, not known if the whole is 0.
func portion(of func(results.Run) (part, whole int64)) func(results.Run) (float64, bool) {
	return func(r results.Run) (float64, bool) {
		part, whole := of(r)
		return float64(part) / float64(max(whole, 1)), whole > 0
	}
}

// hasBackground reports whether any run had a background load.
func (s *runTable) hasBackground() bool {
	return slices.ContainsFunc(s.runs, func(r results.Run) bool { return r.Background != nil })
}

// times adds a column for each percentile, under one heading.
func (s *runTable) times(over string, of levels.Timing) { s.percentiles(over, of, false) }

// tail adds only the last of the columns that times adds; if the user chose percentiles, it adds all
// of them.
func (s *runTable) tail(over string, of levels.Timing) {
	s.percentiles(over, of, len(s.shown.Chosen) == 0)
}

func (s *runTable) percentiles(over string, of levels.Timing, lastOnly bool) {
	runs := slices.Concat(s.of...)
	shown := s.shown.Choose(runs, of.Of)
	if last := shown[len(shown)-1]; len(s.shown.Chosen)+len(s.shown.Judged) == 0 && slices.ContainsFunc(runs, func(r results.Run) bool { return of.HidesLoss(last, r) }) {
		shown = append(slices.Clone(shown), levels.LossTail)
	}
	if lastOnly {
		shown = shown[len(shown)-1:]
	}
	for i, p := range shown {
		c := Column{Head: levels.PercentileName(p)}
		if i == 0 {
			c.Over, c.Gap = over, 3
		}
		s.latency(c, of.Percentile(p))
	}
}
