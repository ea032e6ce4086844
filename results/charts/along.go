package charts

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/levels"
)

// axisName returns the name of a sweep's axis in titles.
func axisName(axis string) string {
	switch axis {
	case "rate":
		return "offered rate"
	case "hold":
		return "hold time"
	case "reads":
		return "share of reads"
	case "size":
		return "size of values"
	}
	return axis
}

// onAxis formats a level of a sweep's axis: "16 clients", "90 % reads".
func onAxis(axis string, v float64) string {
	switch axis {
	case "rate":
		return number(v) + " arrivals/s"
	case "hold":
		return "hold " + clock(v)
	case "reads":
		return number(math.Round(1000*v)/10) + " % reads"
	case "size":
		return number(v) + " B"
	}
	if v == 1 {
		return "1 " + strings.TrimSuffix(axis, "s")
	}
	return number(v) + " " + axis
}

// levelAxis returns the first axis of a sweep's charts.
func levelAxis(name string, levels []float64) axis {
	switch name {
	case "reads":
		a := axis{label: "share of operations that read", low: slices.Min(levels), high: slices.Max(levels)}
		for _, v := range slices.Compact(slices.Sorted(slices.Values(levels))) {
			a.ticks = append(a.ticks, plot.Tick{Value: v, Label: number(math.Round(1000*v)/10) + " %"})
		}
		return a
	case "hold":
		if slices.Min(levels) == 0 {
			return linear("hold time", levels, clock)
		}
		return exactly("hold time", levels, clock)
	case "rate":
		return exactly("arrivals/s offered", levels, number)
	case "size":
		return exactly("size of values in bytes", levels, number)
	}
	return exactly(name, levels, number)
}

// symmetricAxis returns an axis that is symmetric about zero.
func symmetricAxis(label string, lines []line) axis {
	far := 1.0
	for _, v := range valuesOf(lines, func(p point) float64 { return p.y }) {
		far = max(far, math.Abs(v))
	}
	return linear(label, []float64{-far, far}, number)
}

// intervalsOf returns the values of the lines and the ends of their intervals.
func intervalsOf(lines []line) (values []float64) {
	for _, l := range lines {
		for _, p := range l.at {
			values = append(values, p.y)
			if p.low > 0 {
				values = append(values, p.low, p.high)
			}
		}
	}
	return values
}

// placesOf returns the levels of the first axis at which the subject was measured.
func placesOf(s results.Sweep, of subject) (at []float64) {
	for _, series := range of.swept(s) {
		for _, l := range series.Levels {
			at = append(at, levels.Value(l, s.Axes[0]))
		}
	}
	return at
}

// done returns what the subject's throughput counts: operations or rounds.
func done(s subject) string {
	if s.runs[0].Mix != nil {
		return "operations"
	}
	return "rounds"
}

func (s subject) has(r results.Run) bool { return r.Recipe == s.runs[0].Recipe }

// swept returns the sweep's series of the subject.
func (s subject) swept(all results.Sweep) (of []levels.Series) {
	for _, series := range levels.SeriesOf(all) {
		if s.has(all.Runs[series.Levels[0].Runs[0]]) {
			of = append(of, series)
		}
	}
	return of
}

// lookOf returns the look of the i-th series: that of its form, unless a second axis splits the form
// into several series.
func (s subject) lookOf(all results.Sweep, series levels.Series, i int) look {
	l := s.looks[s.called(series.Levels[0].Form, series.Levels[0].Backend.URL)]
	if series.Beside == "" {
		return l
	}
	of := l.ink
	if len(s.series()) == 1 {
		of = colours()[i%len(colours())]
	}
	return nth(i, of)
}

// modelled adds the number of notifications per round that the cost model expects of the run.
func modelled(model map[string][]point, name string, r results.Run) {
	if e := r.Cost.Expected; e != nil && e.NotificationsPerRound != nil && *e.NotificationsPerRound > 0 {
		model[name] = append(model[name], point{x: float64(r.Clients), y: *e.NotificationsPerRound})
	}
}

func byX(a, b point) int { return cmp.Compare(a.x, b.x) }
