package charts

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/levels"
	"github.com/stampede-bench/stampede/results/stats"
	"github.com/stampede-bench/stampede/results/units"
)

// growth draws the figure of the recipe's herd against the sweep's numbers of clients.
func growth(s results.Sweep, of subject) *Chart {
	if s.Axes[0] != "clients" || len(s.Axes) > 1 {
		return nil
	}
	measured, model := map[string][]point{}, map[string][]point{}
	for _, l := range s.Levels {
		r := s.Runs[l.Runs[0]]
		if !of.has(r) {
			continue
		}
		if e, known := levels.Across(levels.RunsOf(s, l), of.herd().Figure.RunValue); known && e.Value > 0 {
			measured[of.key(r)] = append(measured[of.key(r)], estimated(float64(l.Clients), e))
		}
		expect(model, of.key(r), r)
	}
	return herd(of, measured, model)
}

// throughput draws a sweep's rounds per second along its first axis, with the Universal Scalability Law
// if it was fitted, and the medians' distance from it.
func throughput(s results.Sweep, of subject) *Chart {
	main, off := panel{height: tall}, panel{height: 110, heading: "deviation"}
	var about []string
	for i, series := range of.swept(s) {
		l := line{name: series.Name, look: of.lookOf(s, series, i), marked: true}
		for _, level := range series.Levels {
			l.at = append(l.at, estimated(levels.Value(level, s.Axes[0]), level.Throughput))
		}
		law := scaled(series.Curve)
		l.joined = law == nil
		if law != nil {
			main.lines = append(main.lines, line{look: l.look, at: law, joined: true, thin: true})
			off.lines = append(off.lines, line{look: l.look, at: residuals(series.Curve.USL), marked: true})
			main.rules = append(main.rules, knee(series, l.at)...)
		}
		main.lines = append(main.lines, l.saying(func(p point) string {
			return fmt.Sprintf("%s, %s: %s %s/s%s", series.Name, onAxis(s.Axes[0], p.x), units.Rate(p.y), done(of), p.interval(units.Rate))
		}))
		first, last := l.at[0], l.at[len(l.at)-1]
		about = append(about, fmt.Sprintf("%s: %s a second at %s, %s at %s", l.name, units.Rate(first.y), onAxis(s.Axes[0], first.x), units.Rate(last.y), onAxis(s.Axes[0], last.x)))
	}
	if len(main.lines) == 0 || len(main.lines[0].at) < 2 {
		return nil
	}
	main.x = levelAxis(s.Axes[0], placesOf(s, of))
	main.y = linear(done(of)+"/s", intervalsOf(main.lines), number)
	c := &Chart{Name: slug(of.name, "throughput"), Title: titled("Throughput by "+axisName(s.Axes[0]), of), panels: []panel{main}}
	c.Caption = "Medians with their intervals."
	if len(off.lines) > 0 {
		c.Caption = "Medians with their intervals, and the Universal Scalability Law fitted to them; below, the deviation of the medians from it."
		off.x, off.y = main.x, symmetricAxis("difference in %", off.lines)
		c.panels[0].x.label = ""
		c.panels = append(c.panels, off)
	}
	c.About = c.Title + ". " + strings.Join(about, "; ") + "."
	return c
}

func estimated(x float64, e results.Estimate) point {
	return point{x: x, y: e.Value, low: e.Low, high: e.High}
}

// scaled returns the curve of a law, nil if there is none.
func scaled(c *results.Curve) (law []point) {
	if c == nil || c.USL == nil || len(c.USL.Residuals) < 2 {
		return nil
	}
	u := stats.USL{Alpha: c.USL.Alpha, Beta: c.USL.Beta, Gamma: c.USL.Gamma}
	first, last := c.USL.Residuals[0].N, c.USL.Residuals[len(c.USL.Residuals)-1].N
	const steps = 60
	for i := range steps + 1 {
		n := first * math.Pow(last/first, float64(i)/steps)
		law = append(law, point{x: n, y: u.Value(n)})
	}
	return law
}

// knee returns a rule at the peak of the throughput, if the peak was measured.
func knee(s levels.Series, at []point) []rule {
	k := s.Curve.USL.Knee
	if k == nil || *k > at[len(at)-1].x || *k < at[0].x {
		return nil
	}
	return []rule{{x: *k, name: fmt.Sprintf("peak at %s", number(math.Round(*k)))}}
}

// residuals returns the medians' distance from the law, in percent.
func residuals(u *results.USL) (all []point) {
	for _, r := range u.Residuals {
		all = append(all, point{x: r.N, y: 100 * (r.Measured/r.Fitted - 1)})
	}
	return all
}

// axisName returns the name of a sweep's axis in titles.
func axisName(axis string) string {
	switch axis {
	case "rate":
		return "offered rate"
	case "hold":
		return "hold time"
	case "session-timeout":
		return "session time-out"
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
	case "session-timeout":
		return "session time-out " + clock(v)
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
			a.ticks = append(a.ticks, tick{value: v, label: number(math.Round(1000*v)/10) + " %"})
		}
		return a
	case "hold":
		return exactly("hold time", levels, clock)
	case "session-timeout":
		return exactly("session time-out", levels, clock)
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

// expect adds the number of notifications per round that the cost model expects of the run, if they are its herd.
func expect(model map[string][]point, name string, r results.Run) {
	if e := r.Cost.Expected; levels.HerdOf(r).Wakes() && e != nil && e.NotificationsPerRound != nil && *e.NotificationsPerRound > 0 {
		model[name] = append(model[name], point{x: float64(r.Clients), y: *e.NotificationsPerRound})
	}
}

func byX(a, b point) int { return cmp.Compare(a.x, b.x) }

// tails draws the highest percentile that the levels have, along a sweep's first axis. For a recipe it
// is that of the key phase, and all levels must have it. For a mix it is that of each phase, without
// the levels that have too few operations for it.
func tails(s results.Sweep, of subject) *Chart {
	phases := []string{of.keyPhase()}
	if of.runs[0].Mix != nil {
		phases = of.runs[0].Phases
	}
	for _, percentile := range []string{"p99", "p90", "p50"} {
		p := panel{height: tall}
		known := true
		for i, series := range of.swept(s) {
			if len(phases) > 1 {
				p.lines = append(p.lines, tailsOfAll(s, series, phases, percentile, len(p.lines))...)
				continue
			}
			l := line{name: series.Name, look: of.lookOf(s, series, i), at: tail(s.Axes[0], series, phases[0], percentile), marked: true, joined: true}
			known = known && len(l.at) > 1 && len(l.at) == len(tail(s.Axes[0], series, phases[0], "p50"))
			p.lines = append(p.lines, l)
		}
		if known && len(p.lines) > 0 {
			return tailsOf(s, of, p, phases, percentile)
		}
	}
	return nil
}

// tailsOfAll returns the lines of each phase of a series, each in its own colour. The chart already has
// the given number of other lines.
func tailsOfAll(s results.Sweep, series levels.Series, phases []string, percentile string, others int) (all []line) {
	for i, phase := range phases {
		l := line{name: levels.PhaseName(phase), look: nth(others+len(all), colours()[i%len(colours())]), at: tail(s.Axes[0], series, phase, percentile), marked: true, joined: true}
		if series.Beside != "" {
			l.name += ", " + series.Beside
		}
		if len(l.at) > 1 {
			all = append(all, l)
		}
	}
	return all
}

// tail returns a percentile along the axis, where it is known.
func tail(axis string, series levels.Series, phase, percentile string) (at []point) {
	for _, level := range series.Levels {
		if e, known := level.Latency[phase][percentile]; known && e.Value > 0 {
			at = append(at, estimated(levels.Value(level, axis), e))
		}
	}
	return at
}

func tailsOf(s results.Sweep, of subject, p panel, phases []string, percentile string) *Chart {
	format := func(v float64) string { return units.Duration(time.Duration(v)) }
	for i, l := range p.lines {
		p.lines[i] = l.saying(func(p point) string {
			return fmt.Sprintf("%s, %s: %s %s%s", l.name, onAxis(s.Axes[0], p.x), percentile, format(p.y), p.interval(format))
		})
	}
	what := "latency"
	if len(phases) == 1 {
		what = levels.PhaseName(phases[0])
	}
	p.x = levelAxis(s.Axes[0], placesOf(s, of))
	p.y = topped(what+" "+percentile, intervalsOf(p.lines), clock)
	var about []string
	for _, l := range p.lines {
		last := l.at[len(l.at)-1]
		about = append(about, fmt.Sprintf("%s: %s at %s", l.name, units.Duration(time.Duration(last.y)), onAxis(s.Axes[0], last.x)))
	}
	c := &Chart{
		Name:    slug(of.name, "latency", "by", s.Axes[0]),
		Title:   titled(fmt.Sprintf("%s %s by %s", upper(what), percentile, axisName(s.Axes[0])), of),
		Caption: "Lower is faster. Medians with their intervals.",
		panels:  []panel{p},
	}
	c.About = c.Title + ". " + strings.Join(about, "; ") + "."
	return c
}
