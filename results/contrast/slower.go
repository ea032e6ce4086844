package contrast

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/figure"
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
	if lines := doubtfully(name, e, timeOf(phase, percentile), levels.RepetitionsOf(naive, runs), levels.RepetitionsOf(calm, runs)); lines != nil {
		return lines
	}
	switch {
	case Undecided(e):
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
func doubtfully(name string, e results.Estimate, time figure.Figure, naive, calm []results.Run) []string {
	low, high, why := certain(e, time, naive, calm)
	switch {
	case why == "":
		return nil
	case low >= 1.95:
		return []string{fmt.Sprintf("%s is at least %s times slower: %s.", name, units.Short(low), why)}
	case low >= 1.05:
		return []string{fmt.Sprintf("%s is at least %.0f %% slower: %s.", name, 100*(low-1), why)}
	case high <= 1:
		return []string{fmt.Sprintf("%s is no slower: %s.", name, why)}
	}
	return []string{fmt.Sprintf("%s may be slower or faster: %s.", name, why)}
}

// certain returns between which values the ratio of a time lies, and the doubt because of which no more is certain, ""
// if there is none.
func certain(e results.Estimate, time figure.Figure, naive, calm []results.Run) (low, high float64, why string) {
	low, high = e.Value, e.Value
	if e.Confidence >= stats.Confidence {
		low, high = e.Low, e.High
	}
	shorter, longer, why := room(time, naive)
	least, most, because := room(time, calm)
	return low * shorter / most, high * longer / least, cmp.Or(why, because)
}

// timeOf returns the figure of a percentile of a phase. Of one that has no figure it returns the median, which doubts
// can change the most in proportion.
func timeOf(phase, percentile string) figure.Figure {
	f, err := figure.Parse(phase+".response."+percentile, []string{phase})
	if err != nil {
		f = figure.Known([]string{phase}, phase+".response.p50")[0]
	}
	return f
}

// room returns by which factors the true figures of the runs can be lower and higher than the measured ones, and why.
func room(f figure.Figure, runs []results.Run) (least, most float64, why string) {
	least, most = 1, 1
	for _, r := range runs {
		is := f.Read(r)
		if doubt := is.Doubtful(); doubt != "" && is.Value > 0 {
			least, most, why = min(least, max(is.Low, 0)/is.Value), max(most, is.High/is.Value), cmp.Or(why, doubt)
		}
	}
	return least, most, why
}

// Undecided reports whether the interval of a ratio includes 1 and a difference that would be named.
func Undecided(e results.Estimate) bool {
	return e.Confidence >= stats.Confidence && e.Low <= 1 && 1 <= e.High && (e.Low <= 0.95 || e.High >= 1.05)
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
