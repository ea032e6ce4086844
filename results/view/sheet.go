package view

import (
	"slices"
	"time"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/levels"
	"github.com/stampede-bench/stampede/results/units"
)

// A sheet is a grid with a row for each run, or for each group of repetitions.
type sheet struct {
	grid
	runs  []results.Run   // the first run of each row
	of    [][]results.Run // all runs of each row
	spans [][]string      // the intervals of each row
	shown columns
}

func newSheet(runs []results.Run, shown columns) *sheet {
	s := &sheet{of: levels.Repetitions(runs), shown: shown}
	for _, row := range s.of {
		s.runs = append(s.runs, row[0])
	}
	s.rows, s.spans = make([][]string, len(s.of)), make([][]string, len(s.of))
	return s
}

// text adds a column of values that all repetitions share, or of those of the first.
func (s *sheet) text(c column, cell func(results.Run) string) {
	s.columns = append(s.columns, c)
	for i, r := range s.runs {
		s.rows[i], s.spans[i] = append(s.rows[i], cell(r)), append(s.spans[i], "")
	}
}

// figure adds a column of medians, with their intervals where runs were repeated.
func (s *sheet) figure(c column, of func(results.Run) (float64, bool), write func(float64) string) {
	s.columns = append(s.columns, c)
	for i, row := range s.of {
		e, known := levels.Across(row, of)
		cell := units.Absent
		if known {
			cell = write(e.Value)
		}
		s.rows[i], s.spans[i] = append(s.rows[i], cell), append(s.spans[i], span(e, known, len(row), write))
	}
}

// latency adds a column of durations, in a common unit if possible.
func (s *sheet) latency(c column, phase string, of func(results.Run, string) *results.Distribution, percentile func(*results.Distribution) *int64) {
	value := func(r results.Run) (float64, bool) {
		v := percentile(of(r, phase))
		if v == nil {
			return 0, false
		}
		return float64(*v), true
	}
	var known []time.Duration
	for _, row := range s.of {
		if e, ok := levels.Across(row, value); ok {
			known = append(known, time.Duration(e.Value))
		}
	}
	common, fits := units.Common(known)
	s.figure(c, value, func(v float64) string {
		if fits {
			return common.Measure(time.Duration(v))
		}
		return units.Duration(time.Duration(v))
	})
}

// finished returns the grid, with a line of intervals below each row of repetitions.
func (s *sheet) finished() *grid {
	s.rows = below(s, s.rows, s.spans)
	for i, c := range s.columns {
		if c.verdicts != nil {
			s.columns[i].verdicts = below(s, c.verdicts, make([]results.Verdict, len(s.of)))
		}
	}
	return &s.grid
}

// below returns what belongs to the rows of the sheet, and after each row of repetitions what belongs to
// its line of intervals.
func below[T any](s *sheet, rows, spans []T) (all []T) {
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
func (s *sheet) rates(done string) (open bool) {
	open = slices.ContainsFunc(s.runs, results.Run.IsOpen)
	if open {
		s.figure(column{head: "offered/s", space: 2}, func(r results.Run) (float64, bool) { return r.OfferedPerS, r.IsOpen() }, units.Rate)
	}
	s.figure(column{head: done, space: 2}, func(r results.Run) (float64, bool) { return r.ThroughputPerS, r.DurationNS > 0 }, units.Rate)
	if open {
		s.figure(column{head: "late", space: 2}, portion(func(r results.Run) (int64, int64) {
			return r.Generator.Late + r.Generator.Skipped, r.Generator.Offered
		}), units.Share)
	}
	return open
}

// portion returns a figure that is the share some/all, not known if all is 0.
func portion(of func(results.Run) (some, all int64)) func(results.Run) (float64, bool) {
	return func(r results.Run) (float64, bool) {
		some, all := of(r)
		return float64(some) / float64(max(all, 1)), all > 0
	}
}

// beside reports whether any run had a background load.
func (s *sheet) beside() bool {
	return slices.ContainsFunc(s.runs, func(r results.Run) bool { return r.Background != nil })
}
