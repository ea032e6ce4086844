package results

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/stampede-bench/stampede/fit"
)

// repeats tells whether the runs measured the same thing again.
func (r Run) repeats(other Run) bool {
	return r.Repetition > 0 && other.Repetition > 0 && r.Scenario == other.Scenario && r.Recipe == other.Recipe && r.Form == other.Form &&
		r.Backend == other.Backend && r.Clients == other.Clients
}

// repetitions puts the runs together that measured the same thing, in the order of
// their first ones.
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

// repetitionsOf are the runs that measured the same as r, r among them.
func repetitionsOf(r Run, runs []Run) []Run {
	same := slices.DeleteFunc(slices.Clone(runs), func(o Run) bool { return !o.repeats(r) })
	if len(same) == 0 {
		return []Run{r}
	}
	return same
}

// Summarize fills in the summary of what was repeated.
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

// medians are runs that stand for the repetitions of each row.
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

// span is the interval of a median as its figure writes values, n/a where there are
// too few repetitions for 95 %, "" of one run.
func span(e Estimate, known bool, repetitions int, write func(float64) string) string {
	switch {
	case repetitions < 2:
		return ""
	case !known || e.Confidence < fit.Confidence:
		return absent
	}
	return between(write(e.Value), write(e.Low), write(e.High))
}

// between is both ends in brackets, one where they are written alike, and without
// the unit where all three have the same.
func between(value, low, high string) string {
	if i := strings.LastIndex(value, " "); i >= 0 && strings.HasSuffix(low, value[i:]) && strings.HasSuffix(high, value[i:]) {
		low, high = strings.TrimSuffix(low, value[i:]), strings.TrimSuffix(high, value[i:])
	}
	if low == high {
		return "[" + low + "]"
	}
	return "[" + low + ", " + high + "]"
}

// ratioOf is how many times as much the naive form takes as the calm one: the median
// over the repetitions of the ratio within each.
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

// within is the interval of a ratio in brackets, after a space and the words; of
// repetitions that are too few for one it says so, and of one run nothing.
func (r Estimate) within(repetitions int, words, format string) string {
	switch {
	case repetitions < 2:
		return ""
	case r.Confidence < fit.Confidence:
		return " [n/a: 95 % takes 6 repetitions]"
	}
	return fmt.Sprintf(" %s["+format+", "+format+"]", words, r.Low, r.High)
}

// notOfTheMedians says why the ratio is not that of the two medians in the table,
// where one can see that it is not.
func (r Estimate) notOfTheMedians(naive, calm float64, repetitions int) []string {
	if repetitions < 2 || calm <= 0 || short(naive/calm) == short(r.Value) {
		return nil
	}
	return []string{fmt.Sprintf("That is the median of the ratios within each repetition; the medians in the table, each taken over all repetitions, have a ratio of %s.", short(naive/calm))}
}

// repeated says what the second line of each row is, "" where nothing was repeated.
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

// repeatedTimes is " × 6 repetitions", "" where nothing was repeated.
func repeatedTimes(runs []Run) string {
	if most := mostRepetitions(runs); most > 1 {
		return " × " + plural(most, "repetition")
	}
	return ""
}
