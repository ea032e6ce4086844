package contrast

import (
	"fmt"
	"strings"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/levels"
	"github.com/stampede-bench/stampede/results/stats"
	"github.com/stampede-bench/stampede/results/units"
)

// Slower compares how long it takes until the next client is served.
func Slower(naive, calm results.Run, runs []results.Run, shown levels.Shown) []string {
	phase := results.KeyPhase(naive.Phases)
	if phase == "" {
		return nil
	}
	name := strings.ToUpper(phase[:1]) + levels.PhaseName(phase)[1:]
	e, medians, percentile := shown.Slowdown(runs, func(r results.Run) *results.Distribution { return r.Times(phase) }, naive, calm)
	times := len(levels.RepetitionsOf(naive, runs))
	ratio, within := e.Value, intervalOfRatio(e, times, "ratio ", "%.2f")
	if percentile == "" {
		return []string{name + ": too few rounds to compare."}
	}
	name += " " + percentile
	r := levels.RatioWithin(e, levels.TimeOf(naive, phase, percentile), levels.RepetitionsOf(naive, runs), levels.RepetitionsOf(calm, runs))
	if lines := doubtfully(name, r); lines != nil {
		return lines
	}
	switch {
	case r.Undecided():
		return []string{fmt.Sprintf("%s may be slower or faster: ratio %.2f%s.", name, ratio, intervalOfRatio(e, times, "", "%.2f"))}
	case ratio >= 1.95:
		within = intervalOfRatio(e, times, "", "%.3g")
		line := fmt.Sprintf("%s is %s times slower%s.", name, units.Short(ratio), within)
		return append([]string{line}, otherRatio(e, medians[0], medians[1], times)...)
	case ratio >= 1.05:
		return []string{fmt.Sprintf("%s is %.0f %% slower%s.", name, 100*(ratio-1), within)}
	case ratio > 0.95:
		return []string{name + " is no slower" + within + "."}
	}
	return []string{fmt.Sprintf("%s is no slower, but %.0f %% faster%s.", name, 100*(1-ratio), within)}
}

// doubtfully says what is certain of the ratio of a time if doubts about the runs leave some room for it, and why no more
// is; nil if there is no room.
func doubtfully(name string, r levels.Ratio) []string {
	switch {
	case r.Doubt == "":
		return nil
	case r.Least >= 1.95:
		return []string{fmt.Sprintf("%s is at least %s times slower: %s.", name, units.Short(r.Least), r.Doubt)}
	case r.Least >= 1.05:
		return []string{fmt.Sprintf("%s is at least %.0f %% slower: %s.", name, 100*(r.Least-1), r.Doubt)}
	case r.Most <= 1:
		return []string{fmt.Sprintf("%s is no slower: %s.", name, r.Doubt)}
	}
	return []string{fmt.Sprintf("%s may be slower or faster: %s.", name, r.Doubt)}
}

// SlowerBackground says how much longer the background's reads take beside the naive form than beside the other form, if
// that is known of both.
func SlowerBackground(naive, calm results.Run, runs []results.Run, shown levels.Shown, reads func(results.Run) *results.Distribution) []string {
	e, _, percentile := shown.Slowdown(runs, reads, naive, calm)
	if percentile == "" {
		return nil
	}
	r := levels.RatioWithin(e, levels.TimeOf(naive, "background.read", percentile), levels.RepetitionsOf(naive, runs), levels.RepetitionsOf(calm, runs))
	least, ratio, why := "", r.Value, ""
	if r.Doubt != "" && r.Most > 1 {
		least, ratio, why = "at least ", r.Least, ": "+r.Doubt
	}
	switch {
	case r.Undecided(), why != "" && ratio < 1.05:
		return []string{fmt.Sprintf("Whether a read of the background takes longer at its %s is not known%s.", percentile, why)}
	case ratio >= 1.95:
		return []string{fmt.Sprintf("A read of the background takes %s%s times longer at its %s%s.", least, units.Short(ratio), percentile, why)}
	case ratio >= 1.05:
		return []string{fmt.Sprintf("A read of the background takes %s%.0f %% longer at its %s%s.", least, 100*(ratio-1), percentile, why)}
	}
	return []string{fmt.Sprintf("A read of the background takes no longer at its %s.", percentile)}
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
