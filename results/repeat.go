package results

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/stampede-bench/stampede/fit"
)

// repeats reports whether the two runs are repetitions of the same measurement.
func (r Run) repeats(other Run) bool {
	return r.Repetition > 0 && other.Repetition > 0 && r.Scenario == other.Scenario && r.Recipe == other.Recipe && r.Form == other.Form &&
		r.Backend == other.Backend && r.Clients == other.Clients
}

// repetitions groups the runs that are repetitions of the same measurement, in the order of their
// first runs.
func repetitions(runs []Run) (rows [][]Run) {
	for _, r := range runs {
		i := slices.IndexFunc(rows, func(row []Run) bool { return row[0].repeats(r) })
		if i < 0 {
			i = len(rows)
			rows = append(rows, nil)
		}
		rows[i] = append(rows[i], r)
	}
	return rows
}

// repetitionsOf returns the runs that are repetitions of the same measurement as r, including r.
func repetitionsOf(r Run, runs []Run) []Run {
	same := slices.DeleteFunc(slices.Clone(runs), func(o Run) bool { return !o.repeats(r) })
	if len(same) == 0 {
		return []Run{r}
	}
	return same
}

// Summarize computes the summary of the repeated runs.
func (f *File) Summarize() {
	f.Summary = nil
	for _, r := range f.Runs {
		if r.Repetition != 1 {
			continue
		}
		l := levelOf(r)
		for i, other := range f.Runs {
			if r.repeats(other) {
				l.Runs = append(l.Runs, i)
			}
		}
		l.measure(repetitionsOf(r, f.Runs), f.Percentiles)
		f.Summary = append(f.Summary, l)
	}
}

// medians returns one run for each row of repetitions, with medians over them.
func medians(runs []Run) (all []Run) {
	for _, row := range repetitions(runs) {
		r := row[0]
		if len(row) > 1 {
			speed, _ := across(row, func(r Run) (float64, bool) { return r.ThroughputPerS, true })
			offered, _ := across(row, func(r Run) (float64, bool) { return r.OfferedPerS, true })
			r.ThroughputPerS, r.OfferedPerS, r.Cost.PerRound = speed.Value, offered.Value, middlePerRound(row)
			for _, other := range row[1:] {
				r.Herd.Useful += other.Herd.Useful
				r.Herd.Wasted += other.Herd.Wasted
			}
		}
		all = append(all, r)
	}
	return all
}

// span formats the interval of a median, each end as write formats the figure's values. It returns
// n/a if there are too few repetitions for 95 %, and "" for a single run.
func span(e Estimate, known bool, repetitions int, write func(float64) string) string {
	switch {
	case repetitions < 2:
		return ""
	case !known || e.Confidence < fit.Confidence:
		return absent
	}
	return between(write(e.Value), write(e.Low), write(e.High))
}

// between formats both ends of an interval in brackets, or one if both read the same. It omits the
// unit if the value and both ends have the same unit.
func between(value, low, high string) string {
	if i := strings.LastIndex(value, " "); i >= 0 && strings.HasSuffix(low, value[i:]) && strings.HasSuffix(high, value[i:]) {
		low, high = strings.TrimSuffix(low, value[i:]), strings.TrimSuffix(high, value[i:])
	}
	if low == high {
		return "[" + low + "]"
	}
	return "[" + low + ", " + high + "]"
}

// ratioOf returns how many times the calm form's value the naive form's is: the median of the ratios
// within each repetition.
func ratioOf(naive, calm []Run, value func(Run) (float64, bool)) Estimate {
	var logs []float64
	for i := range min(len(naive), len(calm)) {
		a, known := value(naive[i])
		b, too := value(calm[i])
		if known && too && a > 0 && b > 0 {
			logs = append(logs, math.Log(a/b))
		}
	}
	e := fit.Median(logs)
	return Estimate{Value: math.Exp(e.Value), Low: math.Exp(e.Low), High: math.Exp(e.High), Confidence: e.Confidence}
}

// within formats the interval of a ratio in brackets, after a space and the words. It says so if the
// repetitions are too few for an interval, and returns "" for a single run.
func (r Estimate) within(repetitions int, words, format string) string {
	switch {
	case repetitions < 2:
		return ""
	case r.Confidence < fit.Confidence:
		return " [n/a: 95 % takes 6 repetitions]"
	}
	return fmt.Sprintf(" %s["+format+", "+format+"]", words, r.Low, r.High)
}

// notOfTheMedians explains why the ratio is not that of the two medians in the table. It returns nil
// if the reader cannot see a difference.
func (r Estimate) notOfTheMedians(naive, calm float64, repetitions int) []string {
	if repetitions < 2 || calm <= 0 || short(naive/calm) == short(r.Value) {
		return nil
	}
	return []string{fmt.Sprintf("That is the median of the ratios within each repetition; the medians in the table, each taken over all repetitions, have a ratio of %s.", short(naive/calm))}
}

// repeated describes the second line of each row, "" if nothing was repeated.
func repeated(runs []Run) string {
	most := mostRepetitions(runs)
	switch {
	case most < 2:
		return ""
	case fit.Median(make([]float64, most)).Confidence < fit.Confidence:
		return fmt.Sprintf("medians of %d repetitions; their 95 %% intervals are n/a below 6: --repeat 6", most)
	}
	return fmt.Sprintf("medians of %d repetitions, and their 95 %% intervals by the sign test", most)
}

func mostRepetitions(runs []Run) (most int) {
	for _, r := range runs {
		most = max(most, r.Repetition)
	}
	return most
}

// repeatedTimes formats the number of repetitions: " × 6 repetitions", "" if nothing was repeated.
func repeatedTimes(runs []Run) string {
	if most := mostRepetitions(runs); most > 1 {
		return " × " + plural(most, "repetition")
	}
	return ""
}
