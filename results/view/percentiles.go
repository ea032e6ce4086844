package view

import (
	"slices"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/levels"
)

// columns has the percentiles that tables show and findings cite.
type columns struct {
	chosen []float64 // by the user; empty to choose by what the runs support
	tails  []float64 // candidates to stand beside the median, the best first
}

// chosenOf returns the file's columns. A load makes tens of thousands of operations and supports p99;
// a recipe makes hundreds of rounds.
func chosenOf(percentiles []float64, runs []results.Run) columns {
	c := columns{chosen: percentiles, tails: []float64{90, 75}}
	if runs[0].IsLoad() {
		c.tails = []float64{99, 90, 75}
	}
	return c
}

// of returns the percentiles to show for a latency of the runs: the chosen ones, or else the median
// and the first tail percentile that every run supports that supports a median.
func (c columns) of(runs []results.Run, time func(results.Run) *results.Distribution) []float64 {
	if len(c.chosen) > 0 {
		return c.chosen
	}
	for _, tail := range c.tails {
		having, known := 0, 0
		for _, r := range runs {
			if _, ok := time(r).At(50); ok {
				having++
			}
			if _, ok := time(r).At(tail); ok {
				known++
			}
		}
		if known > 0 && known >= having {
			return []float64{50, tail}
		}
	}
	return []float64{50}
}

// highest returns the highest shown percentile that all of the given runs support, and its name; the
// name is "" if there is none.
func (c columns) highest(among []results.Run, time func(results.Run) *results.Distribution, of ...results.Run) (percentile float64, name string) {
	for _, p := range c.of(among, time) {
		known := p > percentile
		for _, r := range of {
			v, ok := c.at(among, time, r, p)
			known = known && ok && v > 0
		}
		if known {
			percentile, name = p, levels.PercentileName(p)
		}
	}
	return percentile, name
}

// at returns the median of a percentile over the repetitions of a run.
func (c columns) at(runs []results.Run, time func(results.Run) *results.Distribution, r results.Run, percentile float64) (float64, bool) {
	e, known := levels.Across(levels.RepetitionsOf(r, runs), levels.ValueAt(time, percentile))
	return e.Value, known
}

// times adds a column for each percentile of a phase, under one heading.
func (s *sheet) times(over, phase string, of func(results.Run, string) *results.Distribution) {
	s.percentiles(over, phase, of, s.shown.of(slices.Concat(s.of...), func(r results.Run) *results.Distribution { return of(r, phase) }))
}

// tail adds only the last of the columns that times adds; if the user chose percentiles, it adds all
// of them.
func (s *sheet) tail(over, phase string, of func(results.Run, string) *results.Distribution) {
	shown := s.shown.of(slices.Concat(s.of...), func(r results.Run) *results.Distribution { return of(r, phase) })
	if len(s.shown.chosen) == 0 {
		shown = shown[len(shown)-1:]
	}
	s.percentiles(over, phase, of, shown)
}

func (s *sheet) percentiles(over, phase string, of func(results.Run, string) *results.Distribution, shown []float64) {
	for i, p := range shown {
		c := column{head: levels.PercentileName(p), space: 2}
		if i == 0 {
			c.over, c.space = over, 3
		}
		s.latency(c, phase, of, func(d *results.Distribution) *int64 {
			if v, ok := d.At(p); ok {
				return &v
			}
			return nil
		})
	}
}
