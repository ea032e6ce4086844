package results

import (
	"slices"
	"strconv"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/stampede-bench/stampede/metrics"
)

// Beyond is how many observations must lie beyond a percentile for it to be known.
const Beyond = metrics.Beyond

// At is a percentile from 0 to 100, false if it is not known: there are too few
// observations, or none.
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

// columns are the percentiles that tables show and findings cite.
type columns struct {
	chosen []float64 // by the user; empty to go by what the runs support
	tails  []float64 // that may stand beside the median, the best first
}

// chosenOf are the file's columns. Operations of a load come in tens of thousands,
// rounds of a recipe in hundreds.
func chosenOf(percentiles []float64, runs []Run) columns {
	c := columns{chosen: percentiles, tails: []float64{90, 75}}
	if runs[0].isLoad() {
		c.tails = []float64{99, 90, 75}
	}
	return c
}

// of are the percentiles of a time of the runs: those that were chosen, or the
// median and the first tail that all runs support which support a median.
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

// highest is the highest of the shown percentiles that all of the runs support, and
// its name; "" if there is none.
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

// at is the median of a percentile over the repetitions of a run.
func (c columns) at(runs []Run, time func(Run) *Distribution, r Run, percentile float64) (float64, bool) {
	e, known := across(repetitionsOf(r, runs), valueAt(time, percentile))
	return e.Value, known
}

// valueAt is a percentile as a figure of a run.
func valueAt(time func(Run) *Distribution, percentile float64) func(Run) (float64, bool) {
	return func(r Run) (float64, bool) {
		v, known := time(r).At(percentile)
		return float64(v), known
	}
}

// percentileName is "p50", "p99.9".
func percentileName(p float64) string { return "p" + strconv.FormatFloat(p, 'f', -1, 64) }

// times adds a column for each percentile of a phase, under one heading.
func (s *sheet) times(over, phase string, of func(Run, string) *Distribution) {
	s.percentiles(over, phase, of, s.shown.of(slices.Concat(s.of...), func(r Run) *Distribution { return of(r, phase) }))
}

// tail adds the last of the columns that times adds, or all of them where they were
// chosen.
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
