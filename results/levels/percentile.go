package levels

import (
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/units"
)

// ValueAt returns the function that gives a run's value of the percentile.
func ValueAt(time func(results.Run) *results.Distribution, percentile float64) func(results.Run) (float64, bool) {
	return func(r results.Run) (float64, bool) {
		v, known := time(r).Percentile(percentile)
		return float64(v), known
	}
}

// PercentileName formats the name of a percentile: "p50", "p99.9".
func PercentileName(p float64) string { return "p" + strconv.FormatFloat(p, 'f', -1, 64) }

// Shown are the percentiles that tables show and findings cite.
type Shown struct {
	Chosen []float64 // by the user; empty to choose by what the runs support
	Judged []float64 // by objectives: they stand beside the median, known or not
	Tails  []float64 // candidates to stand beside the median, the best first
}

// ShownOf returns the percentiles for the runs of a file. A load makes tens of thousands of
// operations and supports p99; a recipe makes hundreds of rounds.
func ShownOf(chosen []float64, runs []results.Run) Shown {
	c := Shown{Chosen: chosen, Tails: []float64{90, 75}}
	if runs[0].IsLoad() {
		c.Tails = []float64{99, 90, 75}
	}
	return c
}

// ShownOfSweep returns the percentiles for the levels of a sweep: those that a search judged, or else those
// that crossovers use.
func ShownOfSweep(s results.Sweep) Shown {
	return Shown{Chosen: s.Percentiles, Judged: judged(s), Tails: []float64{99, 90}}
}

// ofPercentile matches the percentile in the figure of an objective.
var ofPercentile = regexp.MustCompile(`\.p(\d\d)(\d*)\b`)

// judged returns the percentiles that the objectives of a search are about: 99.9 of
// "acquire.response.p999<1s".
func judged(s results.Sweep) (all []float64) {
	for _, digits := range ofPercentile.FindAllStringSubmatch(s.Objective, -1) {
		if p, _ := strconv.ParseFloat(digits[1]+"."+digits[2], 64); p != 50 { // which is always shown
			all = append(all, p)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Choose returns the percentiles to show for a latency of the runs: the chosen ones, or else the median and
// the judged ones, or else the median and the first tail percentile that every run supports that supports a
// median.
func (c Shown) Choose(runs []results.Run, time func(results.Run) *results.Distribution) []float64 {
	if len(c.Chosen) > 0 {
		return c.Chosen
	}
	if len(c.Judged) > 0 {
		return append([]float64{50}, c.Judged...)
	}
	for _, tail := range c.Tails {
		having, known := 0, 0
		for _, r := range runs {
			if _, ok := time(r).Percentile(50); ok {
				having++
			}
			if _, ok := time(r).Percentile(tail); ok {
				known++
			}
		}
		if known > 0 && known >= having {
			return []float64{50, tail}
		}
	}
	return []float64{50}
}

// Highest returns the highest shown percentile that all of the given runs support, and its name; the
// name is "" if there is none.
func (c Shown) Highest(among []results.Run, time func(results.Run) *results.Distribution, of ...results.Run) (percentile float64, name string) {
	for _, p := range c.Choose(among, time) {
		known := p > percentile
		for _, r := range of {
			v, ok := c.median(among, time, r, p)
			known = known && ok && v > 0
		}
		if known {
			percentile, name = p, PercentileName(p)
		}
	}
	return percentile, name
}

// Cite formats the median of a percentile over the repetitions of a run for a sentence: n/a if it is not known.
func (c Shown) Cite(runs []results.Run, at func(results.Run) *results.Distribution, r results.Run, percentile float64) string {
	ns, known := c.median(runs, at, r, percentile)
	if !known {
		return units.Absent
	}
	return units.Duration(time.Duration(ns))
}

// median returns the median of a percentile over the repetitions of a run.
func (c Shown) median(runs []results.Run, time func(results.Run) *results.Distribution, r results.Run, percentile float64) (float64, bool) {
	e, known := Across(RepetitionsOf(r, runs), ValueAt(time, percentile))
	return e.Value, known
}

// Slowdown compares the two forms by the highest percentile that the table shows and that both
// have enough observations for. It returns the ratio, the two medians as the table shows them,
// and the percentile's name; the name is "" if there is no such percentile.
func (c Shown) Slowdown(runs []results.Run, time func(results.Run) *results.Distribution, naive, calm results.Run) (ratio results.Estimate, medians [2]float64, percentile string) {
	p, name := c.Highest(runs, time, naive, calm)
	if name == "" {
		return results.Estimate{}, medians, ""
	}
	medians[0], _ = c.median(runs, time, naive, p)
	medians[1], _ = c.median(runs, time, calm, p)
	return RatioOf(RepetitionsOf(naive, runs), RepetitionsOf(calm, runs), ValueAt(time, p)), medians, name
}
