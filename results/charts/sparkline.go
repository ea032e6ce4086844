package charts

import (
	"fmt"
	"slices"
	"time"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/units"
)

// The size of a sparkline, with room at its edges for the dot of the last value.
const (
	sparkWide, sparkHigh = 120.0, 30.0
	sparkEdge            = 4.0
)

// Sparkline returns a figure, which has points, as a small drawing for the cell of a table: the results as a
// thin line, the medians between changes as thick ones, the noise of each level as a band, and the last
// result as a dot.
func Sparkline(t results.Trend) string {
	t.Points = drawable(t.Points)
	drawn := []line{{look: look{ink: muted}, thin: true}}
	for i, p := range t.Points {
		drawn[0].at = append(drawn[0].at, point{x: float64(i), y: p.Value})
	}
	n, last := len(t.Points), drawn[0].at[len(t.Points)-1]
	drawn = append(drawn, trendLines(t)...)
	y := closeAxis("", valuesOf(drawn, func(p point) float64 { return p.y }), number)
	var c canvas
	a := area{&c, sparkEdge, sparkEdge, sparkWide - sparkEdge, sparkHigh - sparkEdge, panel{x: axis{low: -0.5, high: float64(n) - 0.5}, y: y}}
	for _, r := range noise(t) {
		r.draw(a)
	}
	for _, l := range drawn {
		width := map[bool]float64{true: 1, false: 2}[l.thin]
		var path []spot
		for _, p := range l.at {
			path = append(path, a.locate(p.x, p.y))
		}
		c.line(stroke{ink: l.look.ink, width: width}, path...)
	}
	end := a.locate(last.x, last.y)
	fmt.Fprintf(&c.svg, `<circle cx="%.1f" cy="%.1f" r="2.5" style="fill:%s"/>`, end.x, end.y, text.paint())
	values := fmt.Sprintf("%s of %s: %s, first %s on %s, last %s on %s", t.Figure, t.Of, units.Plural(n, "result"),
		units.Value(t.Points[0].Number(), t.Unit), t.Points[0].Started.Format(time.DateOnly),
		units.Value(t.Points[n-1].Number(), t.Unit), t.Points[n-1].Started.Format(time.DateOnly))
	return fmt.Sprintf(`<svg class="spark" width="%g" height="%g" viewBox="0 0 %[1]g %[2]g" role="img"><title>%s</title>%s</svg>`,
		sparkWide, sparkHigh, escaped(values), c.svg.String())
}

// NoiseLegend says what the bands of a history are.
const NoiseLegend = "The grey band is the noise: the middle half of the results between two changes."

// noise returns a band for each level between changes: from the lower to the upper quartile of its results. A
// drift has none.
func noise(t results.Trend) (bands []rectangle) {
	add := func(from, to int) {
		if to-from < 2 {
			return
		}
		var values []float64
		for _, p := range t.Points[from:to] {
			values = append(values, p.Value)
		}
		slices.Sort(values)
		quarter := (to - from) / 4
		bands = append(bands, rectangle{float64(from) - 0.5, float64(to) - 0.5, values[quarter], values[to-from-1-quarter]})
	}
	from := 0
	for _, c := range t.Changes {
		add(from, c.At)
		from = c.At
		if c.Drift {
			from = c.To + 1
		}
	}
	add(from, len(t.Points))
	return bands
}
