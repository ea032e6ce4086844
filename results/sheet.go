package results

import "slices"

// A sheet is a grid with a row for each run.
type sheet struct {
	grid
	runs  []Run
	shown columns
}

func (s *sheet) text(c column, cell func(Run) string) {
	s.columns = append(s.columns, c)
	for i, r := range s.runs {
		s.rows[i] = append(s.rows[i], cell(r))
	}
}

// latency adds a column of durations, in one unit if they allow.
func (s *sheet) latency(c column, phase string, of func(Run, string) *Distribution, percentile func(*Distribution) *int64) {
	s.columns = append(s.columns, c)
	for i, cell := range durations(s.runs, func(r Run) *int64 { return percentile(of(r, phase)) }) {
		s.rows[i] = append(s.rows[i], cell)
	}
}

// rates adds columns of how much was done a second, and in an open loop of what was
// offered and what of it was late. It tells whether it is one.
func (s *sheet) rates(done string) (open bool) {
	open = slices.ContainsFunc(s.runs, Run.open)
	if open {
		s.text(column{head: "offered/s", space: 2}, Run.offered)
	}
	s.text(column{head: done, space: 2}, Run.speed)
	if open {
		s.text(column{head: "late", space: 2}, Run.late)
	}
	return open
}

// beside tells whether a mix went on beside one of the runs.
func (s *sheet) beside() bool {
	return slices.ContainsFunc(s.runs, func(r Run) bool { return r.Background != nil })
}
