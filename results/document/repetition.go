package document

import (
	"fmt"
	"strings"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/levels"
	"github.com/stampede-bench/stampede/results/stats"
	"github.com/stampede-bench/stampede/results/units"
)

// shownPercentiles are the percentiles that tables show and findings cite.
type shownPercentiles struct {
	chosen []float64 // by the user; empty to choose by what the runs support
	tails  []float64 // candidates to stand beside the median, the best first
}

// percentilesFor returns the percentiles for the runs of a file. A load makes tens of thousands of
// operations and supports p99; a recipe makes hundreds of rounds.
func percentilesFor(chosen []float64, runs []results.Run) shownPercentiles {
	c := shownPercentiles{chosen: chosen, tails: []float64{90, 75}}
	if runs[0].IsLoad() {
		c.tails = []float64{99, 90, 75}
	}
	return c
}

// choose returns the percentiles to show for a latency of the runs: the chosen ones, or else the median
// and the first tail percentile that every run supports that supports a median.
func (c shownPercentiles) choose(runs []results.Run, time func(results.Run) *results.Distribution) []float64 {
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
func (c shownPercentiles) highest(among []results.Run, time func(results.Run) *results.Distribution, of ...results.Run) (percentile float64, name string) {
	for _, p := range c.choose(among, time) {
		known := p > percentile
		for _, r := range of {
			v, ok := c.median(among, time, r, p)
			known = known && ok && v > 0
		}
		if known {
			percentile, name = p, levels.PercentileName(p)
		}
	}
	return percentile, name
}

// median returns the median of a percentile over the repetitions of a run.
func (c shownPercentiles) median(runs []results.Run, time func(results.Run) *results.Distribution, r results.Run, percentile float64) (float64, bool) {
	e, known := levels.Across(levels.RepetitionsOf(r, runs), levels.ValueAt(time, percentile))
	return e.Value, known
}

// slowdown compares the two forms by the highest percentile that the table shows and that both
// have enough observations for. It returns the ratio, the two medians as the table shows them,
// and the percentile's name; the name is "" if there is no such percentile.
func (c shownPercentiles) slowdown(runs []results.Run, time func(results.Run) *results.Distribution, naive, calm results.Run) (ratio results.Estimate, medians [2]float64, percentile string) {
	p, name := c.highest(runs, time, naive, calm)
	if name == "" {
		return results.Estimate{}, medians, ""
	}
	medians[0], _ = c.median(runs, time, naive, p)
	medians[1], _ = c.median(runs, time, calm, p)
	return levels.RatioOf(levels.RepetitionsOf(naive, runs), levels.RepetitionsOf(calm, runs), levels.ValueAt(time, p)), medians, name
}

// span formats the interval of a median, each end as write formats the figure's values. It returns
// n/a if there are too few repetitions for 95 %, and "" for a single run.
func span(e results.Estimate, known bool, repetitions int, write func(float64) string) string {
	switch {
	case repetitions < 2:
		return ""
	case !known || e.Confidence < stats.Confidence:
		return units.Absent
	}
	return interval(write(e.Value), write(e.Low), write(e.High))
}

// interval formats both ends of an interval in brackets, or one if both read the same. It omits the
// unit if the value and both ends have the same unit.
func interval(value, low, high string) string {
	if i := strings.LastIndex(value, " "); i >= 0 && strings.HasSuffix(low, value[i:]) && strings.HasSuffix(high, value[i:]) {
		low, high = strings.TrimSuffix(low, value[i:]), strings.TrimSuffix(high, value[i:])
	}
	if low == high {
		return "[" + low + "]"
	}
	return "[" + low + ", " + high + "]"
}

// intervalOfRatio formats the interval of a ratio in brackets, after a space and the words. It says so if
// the repetitions are too few for an interval, and returns "" for a single run.
func intervalOfRatio(r results.Estimate, repetitions int, words, format string) string {
	switch {
	case repetitions < 2:
		return ""
	case r.Confidence < stats.Confidence:
		return " [n/a: 95 % takes 6 repetitions]"
	}
	return fmt.Sprintf(" %s["+format+", "+format+"]", words, r.Low, r.High)
}

// otherRatio explains why the ratio is not that of the two medians in the table. It returns nil if the
// reader cannot see a difference.
func otherRatio(r results.Estimate, naive, calm float64, repetitions int) []string {
	if repetitions < 2 || calm <= 0 || units.Short(naive/calm) == units.Short(r.Value) {
		return nil
	}
	return []string{fmt.Sprintf("That is the median of the ratios within each repetition; the medians in the table, each taken over all repetitions, have a ratio of %s.", units.Short(naive/calm))}
}

// repeated describes the second line of each row; there is none if nothing was repeated.
func repeated(runs []results.Run) []string {
	most := mostRepetitions(runs)
	switch {
	case most < 2:
		return nil
	case stats.Median(make([]float64, most)).Confidence < stats.Confidence:
		return []string{fmt.Sprintf("medians of %d repetitions; their 95 %% intervals are n/a below 6: --repeat 6", most)}
	}
	return []string{fmt.Sprintf("medians of %d repetitions, and their 95 %% intervals by the sign test", most)}
}

func mostRepetitions(runs []results.Run) (most int) {
	for _, r := range runs {
		most = max(most, r.Repetition)
	}
	return most
}
