package charts

import (
	"fmt"
	"html"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// TipStyle is the style of the values that a chart shows while the pointer is on a point. It needs no
// script. Without it all values are visible at the same time.
const TipStyle = ".tip>g{display:none}.tip:hover>g{display:inline;pointer-events:none}"

// A tip is the text of a point.
type tip struct {
	at   vg.Point
	ink  ink
	text string
}

// tips collects the texts of a panel's points, at the places where the panel draws them.
type tips struct {
	lines []line
	found *[]tip
}

// Plot implements plot.Plotter.
func (t tips) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for _, l := range t.lines {
		for _, at := range l.at {
			if at.text != "" {
				*t.found = append(*t.found, tip{vg.Point{X: x(at.x), Y: y(at.y)}, l.look.ink, at.text})
			}
		}
	}
}

// saying returns the line with a text at each point.
func (l line) saying(text func(point) string) line {
	at := make([]point, len(l.at))
	for i, p := range l.at {
		at[i] = p
		at[i].text = text(p)
	}
	l.at = at
	return l
}

// interval formats the interval of a point, "" if it has none.
func (p point) interval(format func(float64) string) string {
	if p.low >= p.high {
		return ""
	}
	return fmt.Sprintf(" [%s, %s]", format(p.low), format(p.high))
}

const (
	tipHeight vg.Length = 17
	tipRadius vg.Length = 6 // how close the pointer must be to a point
)

// element returns the tip as an SVG element of a chart with the given height.
func (t tip) element(height vg.Length) string {
	wide := typeface(small, text, false).Width(t.text)
	x, y := t.at.X, height-t.at.Y
	left := min(max(x-wide/2, border), width-border-wide)
	top := y - tipHeight - 8
	if top < border {
		top = y + 8
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<g class="tip"><circle cx="%.1f" cy="%.1f" r="%g" style="fill:transparent"/><g>`, x, y, float64(tipRadius))
	fmt.Fprintf(&b, `<circle cx="%.1f" cy="%.1f" r="5" style="fill:none;stroke:var(--%s)"/>`, x, y, t.ink)
	fmt.Fprintf(&b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%g" rx="3" style="fill:var(--paper);stroke:var(--muted)"/>`, left-4, top, wide+8, float64(tipHeight))
	fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" textLength="%.1f" lengthAdjust="spacingAndGlyphs" font-size="%d" style="fill:var(--ink)">%s</text></g></g>`,
		left, top+12.5, wide, small, html.EscapeString(t.text))
	return b.String()
}
