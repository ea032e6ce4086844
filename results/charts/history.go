package charts

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/plot"

	"github.com/stampede-bench/stampede/results/history"
	"github.com/stampede-bench/stampede/results/metric"
	"github.com/stampede-bench/stampede/results/stats"
	"github.com/stampede-bench/stampede/results/units"
)

// History draws a figure from result to result: a thin line through the results, a thick one at the
// median between changes, and a rule at each change.
func History(s *history.Series) Chart {
	changes := s.Analyze()
	all := line{name: "", look: nth(0, muted), joined: true, thin: true, marked: len(s.Points) <= mostMarked}
	for i, v := range s.Points {
		all.at = append(all.at, point{x: float64(i), y: v.Value})
	}
	all = all.saying(func(p point) string {
		of := s.Points[int(p.x)]
		return fmt.Sprintf("%s, %s: %s", of.Time.Format("2006-01-02 15:04"), of.ID, s.Metric.Format(of.Value))
	})
	p := panel{height: tall, lines: append([]line{all}, between(s, changes)...)}
	about := []string{fmt.Sprintf("%d results, first %s, last %s", len(s.Points), s.Metric.Format(s.Points[0].Value), s.Metric.Format(s.Points[len(s.Points)-1].Value))}
	for _, c := range changes {
		p.rules = append(p.rules, rule{x: float64(c.At) - 0.5, name: c.Percent()})
		about = append(about, s.Describe(c))
	}
	p.x, p.y = alongResults(s), near(s.Metric.About, valuesOf(p.lines, func(p point) float64 { return p.y }), writer(s.Metric.Unit))
	c := Chart{Name: slug(s.Subject, s.Machine, s.Metric.Name), Title: s.Metric.Name, panels: []panel{p}}
	c.Caption = "The thick line is the median between changes. The vertical axis need not begin at 0."
	c.About = c.Title + " of " + s.Subject + ". " + strings.Join(about, "; ") + "."
	return c
}

// mostMarked is the greatest number of results whose points do not cover each other.
const mostMarked = 60

// between returns a line for each level between changes, and for each drift.
func between(s *history.Series, changes []history.Change) (lines []line) {
	add := func(x0, y0, x1, y1 float64) {
		lines = append(lines, line{look: look{ink: recipe}, joined: true, at: []point{{x: x0 - 0.5, y: y0}, {x: x1 - 0.5, y: y1}}})
	}
	from := 0
	level := func(to int) {
		var values []float64
		for _, p := range s.Points[from:to] {
			values = append(values, p.Value)
		}
		if len(values) > 0 {
			m := stats.Median(values).Value
			add(float64(from), m, float64(to), m)
		}
	}
	for _, c := range changes {
		level(c.At)
		from = c.At
		if c.Drift() {
			before := s.Points[max(0, c.At-1)].Value
			if n := len(lines); n > 0 {
				before = lines[n-1].at[1].y
			}
			add(float64(c.At), before, float64(c.To+1), before*(1+c.Size))
			from = c.To + 1
		}
	}
	level(len(s.Points))
	return lines
}

// alongResults returns the horizontal axis of a history, with a date at a few of the results.
func alongResults(s *history.Series) axis {
	n := len(s.Points)
	a := axis{label: "result", low: -0.5, high: float64(n) - 0.5}
	layout := "2006-01-02"
	if s.Points[n-1].Time.Sub(s.Points[0].Time) < 48*time.Hour {
		layout = "15:04"
		a.label = s.Points[0].Time.Format("2006-01-02")
	}
	last := ""
	for i := range min(n, 4) {
		at := i * (n - 1) / max(1, min(n, 4)-1)
		if date := s.Points[at].Time.Format(layout); date != last {
			a.ticks, last = append(a.ticks, plot.Tick{Value: float64(at), Label: date}), date
		}
	}
	return a
}

// near returns a linear axis around the values, which begins at 0 only if they are near it.
func near(label string, values []float64, write func(float64) string) axis {
	low, high := slices.Min(values), slices.Max(values)
	if high-low < 0.1*math.Abs(high) { // a flat figure looks flat
		middle := (low + high) / 2
		low, high = middle-0.05*math.Abs(high), middle+0.05*math.Abs(high)
	}
	if low > 0 && low < high/2 {
		low = 0
	}
	if low == high {
		return linear(label, values, write)
	}
	step := niceStep((high - low) / 4)
	a := axis{label: label, low: step * math.Floor(low/step), high: step * math.Ceil(high/step)}
	for i := math.Round(a.low / step); i*step <= a.high+step/2; i++ {
		a.ticks = append(a.ticks, plot.Tick{Value: i * step, Label: write(i * step)})
	}
	return a
}

// writer returns the function that writes a value of the unit at an axis.
func writer(u metric.Unit) func(float64) string {
	switch u {
	case metric.Nanoseconds:
		return clock
	case metric.Bytes:
		return func(v float64) string { return units.Bytes(int64(v)) }
	case metric.Share:
		return func(v float64) string { return number(math.Round(1000*v)/10) + " %" }
	}
	return number
}
