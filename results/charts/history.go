package charts

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/document"
	"github.com/stampede-bench/stampede/results/figure"
	"github.com/stampede-bench/stampede/results/stats"
	"github.com/stampede-bench/stampede/results/units"
)

// Trend draws a figure, which has points, from result to result: a thin line through the results, a thick
// one at the median between changes with a band for the noise, and a rule at each change.
func Trend(t results.Trend) Chart {
	t.Points = drawable(t.Points)
	write := func(v float64) string { return units.Value(v, t.Unit) }
	all := line{name: "", look: nth(0, muted), joined: true, thin: true, marked: len(t.Points) <= mostMarked}
	for i, v := range t.Points {
		all.at = append(all.at, point{x: float64(i), y: v.Value})
	}
	all = all.saying(func(p point) string {
		of := t.Points[int(p.x)]
		return fmt.Sprintf("%s, %s: %s", of.Started.Format("2006-01-02 15:04"), strings.Join(append([]string{of.Result}, of.Words()...), ", "), write(of.Value))
	})
	p := panel{height: tall, bands: noise(t), lines: append([]line{all}, trendLines(t)...)}
	about := []string{fmt.Sprintf("%d results, first %s, last %s", len(t.Points), write(t.Points[0].Number()), write(t.Points[len(t.Points)-1].Number()))}
	for _, c := range t.Changes {
		p.rules = append(p.rules, rule{x: float64(c.At) - 0.5, name: document.SizeOf(c)})
		about = append(about, document.DescribeChange(t, c))
	}
	p.x, p.y = alongResults(t.Points), closeAxis(t.About, valuesOf(p.lines, func(p point) float64 { return p.y }), writer(figure.Unit(t.Unit)))
	c := Chart{Name: slug(t.Of, t.Machine, t.Figure), Title: t.Figure, panels: []panel{p}}
	c.Caption = "The thick line is the median between changes. " + NoiseLegend + " The vertical axis need not begin at 0."
	if slices.ContainsFunc(t.Points, func(p results.TrendPoint) bool { return p.Infinite }) {
		c.Caption += " The highest points are infinite: times of arrivals that were not served."
	}
	c.About = c.Title + " of " + t.Of + ". " + strings.Join(about, "; ") + "."
	return c
}

// drawable returns the points with values that can be drawn.
func drawable(points []results.TrendPoint) []results.TrendPoint {
	points = slices.Clone(points)
	for i, v := range results.Drawn(points) {
		points[i].Value = v
	}
	return points
}

// trends returns a chart of each figure.
func trends(h results.History) (all []Chart) {
	for _, t := range h.Figures {
		if len(t.Points) == 0 {
			continue
		}
		c := Trend(t)
		c.Title += " of " + t.Of
		all = append(all, c)
	}
	return all
}

// mostMarked is the greatest number of results whose points do not cover each other.
const mostMarked = 60

// trendLines returns a line for each level between changes, and for each drift.
func trendLines(t results.Trend) (lines []line) {
	add := func(from int, before float64, to int, after float64) {
		lines = append(lines, line{look: look{ink: recipe}, joined: true,
			at: []point{{x: float64(from) - 0.5, y: before}, {x: float64(to) - 0.5, y: after}}})
	}
	level := func(from, to int) {
		if from == to {
			return
		}
		var values []float64
		for _, p := range t.Points[from:to] {
			values = append(values, p.Value)
		}
		m := stats.Median(values).Value
		add(from, m, to, m)
	}
	from := 0
	for _, c := range t.Changes {
		level(from, c.At)
		from = c.At
		if c.Drift {
			add(c.At, c.Before, c.To+1, c.After)
			from = c.To + 1
		}
	}
	level(from, len(t.Points))
	return lines
}

// alongResults returns the horizontal axis of a history, with a date at a few of the results.
func alongResults(points []results.TrendPoint) axis {
	n := len(points)
	a := axis{label: "result", low: -0.5, high: float64(n) - 0.5}
	layout := "2006-01-02"
	if points[n-1].Started.Sub(points[0].Started) < 48*time.Hour {
		layout = "15:04"
		a.label = points[0].Started.Format("2006-01-02")
	}
	last := ""
	for i := range min(n, 4) {
		at := i * (n - 1) / max(1, min(n, 4)-1)
		if date := points[at].Started.Format(layout); date != last {
			a.ticks, last = append(a.ticks, tick{value: float64(at), label: date}), date
		}
	}
	return a
}

// closeAxis returns a linear axis around the values, which begins at 0 only if they are near it.
func closeAxis(label string, values []float64, write func(float64) string) axis {
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
		a.ticks = append(a.ticks, tick{value: i * step, label: write(i * step)})
	}
	return a
}

// writer returns the function that writes a value of the unit at an axis.
func writer(u figure.Unit) func(float64) string {
	switch u {
	case figure.Nanoseconds:
		return clock
	case figure.Bytes:
		return func(v float64) string { return units.Bytes(int64(v)) }
	case figure.Share:
		return func(v float64) string { return number(math.Round(1000*v)/10) + " %" }
	}
	return number
}
