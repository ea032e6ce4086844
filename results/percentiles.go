package results

import (
	"slices"
	"strconv"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/stampede-bench/stampede/metrics"
)

// Beyond is how many observations must lie beyond a percentile for it to be known.
const Beyond = metrics.Beyond

// At returns a percentile, given as a number from 0 to 100. It returns false if the percentile is not
// known: there are too few observations, or none.
func (d *Distribution) At(percentile float64) (value int64, known bool) {
	if d == nil {
		return 0, false
	}
	written, ok := map[float64]*int64{50: d.P50, 90: d.P90, 99: d.P99, 99.9: d.P999}[percentile]
	switch {
	case ok && written == nil:
		return 0, false
	case ok:
		return *written, true
	}
	if v, ok := d.Others[percentile]; ok {
		return v, true
	}
	h, err := hdrhistogram.Decode([]byte(d.HDR))
	if err != nil { // the medians of a sweep have no histogram
		return 0, false
	}
	return metrics.Percentile(h, percentile)
}

// columns has the percentiles that tables show and findings cite.
type columns struct {
	chosen []float64 // by the user; empty to choose by what the runs support
	tails  []float64 // candidates to stand beside the median, the best first
}

// chosenOf returns the file's columns. A load makes tens of thousands of operations and supports p99;
// a recipe makes hundreds of rounds.
func chosenOf(percentiles []float64, runs []Run) columns {
	c := columns{chosen: percentiles, tails: []float64{90, 75}}
	if runs[0].isLoad() {
		c.tails = []float64{99, 90, 75}
	}
	return c
}

// of returns the percentiles to show for a latency of the runs: the chosen ones, or else the median
// and the first tail percentile that every run supports that supports a median.
func (c columns) of(runs []Run, time func(Run) *Distribution) []float64 {
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
func (c columns) highest(among []Run, time func(Run) *Distribution, of ...Run) (percentile float64, name string) {
	for _, p := range c.of(among, time) {
		known := p > percentile
		for _, r := range of {
			v, ok := c.at(among, time, r, p)
			known = known && ok && v > 0
		}
		if known {
			percentile, name = p, percentileName(p)
		}
	}
	return percentile, name
}

// at returns the median of a percentile over the repetitions of a run.
func (c columns) at(runs []Run, time func(Run) *Distribution, r Run, percentile float64) (float64, bool) {
	e, known := across(repetitionsOf(r, runs), valueAt(time, percentile))
	return e.Value, known
}

// valueAt returns the function that gives a run's value of the percentile.
func valueAt(time func(Run) *Distribution, percentile float64) func(Run) (float64, bool) {
	return func(r Run) (float64, bool) {
		v, known := time(r).At(percentile)
		return float64(v), known
	}
}

// percentileName formats the name of a percentile: "p50", "p99.9".
func percentileName(p float64) string { return "p" + strconv.FormatFloat(p, 'f', -1, 64) }

// times adds a column for each percentile of a phase, under one heading.
func (s *sheet) times(over, phase string, of func(Run, string) *Distribution) {
	s.percentiles(over, phase, of, s.shown.of(slices.Concat(s.of...), func(r Run) *Distribution { return of(r, phase) }))
}

// tail adds only the last of the columns that times adds; if the user chose percentiles, it adds all
// of them.
func (s *sheet) tail(over, phase string, of func(Run, string) *Distribution) {
	shown := s.shown.of(slices.Concat(s.of...), func(r Run) *Distribution { return of(r, phase) })
	if len(s.shown.chosen) == 0 {
		shown = shown[len(shown)-1:]
	}
	s.percentiles(over, phase, of, shown)
}

func (s *sheet) percentiles(over, phase string, of func(Run, string) *Distribution, shown []float64) {
	for i, p := range shown {
		c := column{head: percentileName(p), space: 2}
		if i == 0 {
			c.over, c.space = over, 3
		}
		s.latency(c, phase, of, func(d *Distribution) *int64 {
			if v, ok := d.At(p); ok {
				return &v
			}
			return nil
		})
	}
}
