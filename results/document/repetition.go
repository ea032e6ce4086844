package document

import (
	"fmt"
	"strings"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/stats"
	"github.com/stampede-bench/stampede/results/units"
)

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
