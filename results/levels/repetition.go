package levels

import (
	"fmt"
	"math"
	"slices"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/stats"
	"github.com/stampede-bench/stampede/results/units"
)

// repeats reports whether the two runs are repetitions of the same measurement.
func repeats(r, other results.Run) bool {
	return r.Repetition > 0 && other.Repetition > 0 && r.Backend.URL == other.Backend.URL && r.Key() == other.Key()
}

// Repetitions groups the runs that are repetitions of the same measurement, in the order of their
// first runs.
func Repetitions(runs []results.Run) (rows [][]results.Run) {
	for _, r := range runs {
		i := slices.IndexFunc(rows, func(row []results.Run) bool { return repeats(row[0], r) })
		if i < 0 {
			i = len(rows)
			rows = append(rows, nil)
		}
		rows[i] = append(rows[i], r)
	}
	return rows
}

// RepetitionsOf returns the runs that are repetitions of the same measurement as r, including r.
func RepetitionsOf(r results.Run, runs []results.Run) []results.Run {
	same := slices.DeleteFunc(slices.Clone(runs), func(o results.Run) bool { return !repeats(o, r) })
	if len(same) == 0 {
		return []results.Run{r}
	}
	return same
}

// Summarize computes the summary of the repeated runs.
func Summarize(f *results.File) {
	f.Summary = nil
	for _, r := range f.Runs {
		if r.Repetition != 1 {
			continue
		}
		l := levelOf(r)
		for i, other := range f.Runs {
			if repeats(r, other) {
				l.Runs = append(l.Runs, i)
			}
		}
		measure(&l, RepetitionsOf(r, f.Runs), f.Percentiles)
		f.Summary = append(f.Summary, l)
	}
}

// Medians returns one run for each row of repetitions, with medians over them.
func Medians(runs []results.Run) (all []results.Run) {
	for _, row := range Repetitions(runs) {
		r := row[0]
		if len(row) > 1 {
			speed, _ := Across(row, func(r results.Run) (float64, bool) { return r.ThroughputPerS, true })
			offered, _ := Across(row, func(r results.Run) (float64, bool) { return r.OfferedPerS, true })
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

// Pace says whether a run in an open loop kept up with the offered rate: fewer than half of its repetitions warn that
// they did not. It says nothing of a service that went away.
func Pace(r results.Run, runs []results.Run) string {
	behind, all := 0, RepetitionsOf(r, runs)
	for _, one := range all {
		if slices.ContainsFunc(one.Warnings, func(w results.Warning) bool { return w.Code == metrics.Behind }) {
			behind++
		}
	}
	line := fmt.Sprintf("Offered %s/s, %s/%s with %s", units.Rate(r.OfferedPerS), r.Recipe, r.Form, Crowd(r))
	if slices.ContainsFunc(all, results.Run.LostService) {
		return line + ", until the service was gone"
	}
	if 2*behind < len(all) {
		return line + " keeps up"
	}
	line += fmt.Sprintf(" does %s/s", units.Rate(r.ThroughputPerS))
	share := RatioWithin(results.Estimate{Value: r.ThroughputPerS / r.OfferedPerS}, Speed(), all, nil)
	if share.Doubt != "" && share.Most >= 1 {
		return line + fmt.Sprintf(" and may keep up (%s)", share.Doubt)
	}
	return line + " and falls behind"
}

// RatioOf returns how many times the calm form's value the naive form's is: the median of the ratios
// within each repetition.
func RatioOf(naive, calm []results.Run, value func(results.Run) (float64, bool)) results.Estimate {
	var logs []float64
	for i := range min(len(naive), len(calm)) {
		a, known := value(naive[i])
		b, too := value(calm[i])
		if known && too && a > 0 && b > 0 {
			logs = append(logs, math.Log(a/b))
		}
	}
	e := stats.Median(logs)
	return results.Estimate{Value: math.Exp(e.Value), Low: math.Exp(e.Low), High: math.Exp(e.High), Confidence: e.Confidence}
}

func PerRoundOf(r results.Run, of func(*results.PerRound) float64) (float64, bool) {
	if r.Cost.PerRound == nil {
		return 0, false
	}
	return of(r.Cost.PerRound), true
}

// Woken returns how many clients a round wakes. A client that a write notifies several times, by several of its
// watches, is woken once.
func Woken(r results.Run) (float64, bool) {
	n, known := PerRoundOf(r, func(c *results.PerRound) float64 { return c.Notifications })
	if h := r.Herd; h.Fanout != nil && h.Triggers > 0 {
		n *= math.Round(h.Fanout.Mean*float64(h.Triggers)) / float64(h.Notifications)
	}
	return n, known
}

// Across returns the median of a figure over the runs, false if one of them does not have it.
func Across(runs []results.Run, of func(results.Run) (float64, bool)) (results.Estimate, bool) {
	var values []float64
	for _, r := range runs {
		v, ok := of(r)
		if !ok {
			return results.Estimate{}, false
		}
		values = append(values, v)
	}
	return results.Estimate(stats.Median(values)), true
}
