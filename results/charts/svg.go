package charts

import (
	"bytes"
	"fmt"
	"html"
	"image/color"
	"regexp"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/stampede-bench/stampede/results"
)

// width is the width of every chart. It is narrow, so that the text, which shrinks with the chart, can
// still be read on a phone.
const width vg.Length = 420

// fonts are the fonts of the text. The first three have the metrics of Liberation Sans, which the layout
// uses.
const fonts = `Arial,Helvetica,&quot;Liberation Sans&quot;,system-ui,sans-serif`

// Inline returns the chart as an SVG element for a page. The page must set the variables of [Variables].
func (c Chart) Inline() string { return c.element("") }

// A File is a chart as a standalone file.
type File struct{ Name, SVG string }

// Files returns the charts of a result as standalone SVG files, named by what they show. They contain the
// colours of both the light and the dark scheme.
func Files(result results.Result) (all []File) {
	for _, c := range Charts(result) {
		all = append(all, File{c.Name + ".svg", c.alone()})
	}
	return all
}

func (c Chart) alone() string {
	style := fmt.Sprintf("<style>:root{%s;color-scheme:light dark}\n@media (prefers-color-scheme:dark){:root{%s}}%s</style>\n"+
		`<rect width="100%%" height="100%%" style="fill:var(--paper)"/>`+"\n", Variables(false), Variables(true), html.EscapeString(TipStyle))
	return `<?xml version="1.0" encoding="UTF-8"?>` + "\n" + c.element(style) + "\n"
}

// Variables returns the colours as CSS declarations.
func Variables(dark bool) string {
	var all []string
	for _, t := range tints() {
		value := t.light
		if dark {
			value = t.dark
		}
		all = append(all, "--"+string(t.ink)+":"+hex(value))
	}
	return strings.Join(all, ";")
}

// element returns the svg element, with the text first at its start.
func (c Chart) element(first string) string {
	canvas := vgsvg.New(width, c.height())
	found := c.draw(draw.New(canvas))
	var b bytes.Buffer
	canvas.WriteTo(&b) // writes into memory
	body := b.String()
	body = body[strings.Index(body, "<g "):]
	body = painted(lettered(body))
	body = strings.TrimSuffix(strings.TrimSpace(body), "</svg>")
	for _, t := range found {
		body += t.element(c.height()) + "\n"
	}
	id := "chart-" + c.Name
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%g" height="%g" viewBox="0 0 %[1]g %[2]g" role="img" aria-labelledby="%[3]s-title %[3]s-about" font-family="%[4]s">`+"\n"+
		`<title id="%[3]s-title">%[5]s</title><desc id="%[3]s-about">%[6]s</desc>`+"\n%[7]s%[8]s</svg>",
		float64(width), float64(c.height()), id, fonts, html.EscapeString(c.Title), html.EscapeString(c.About), first, body)
}

// painted replaces the colours with CSS variables. The colours remain as fallbacks for viewers that do
// not support variables.
func painted(svg string) string {
	var pairs []string
	for _, t := range tints() {
		pairs = append(pairs, ":"+hex(t.light), fmt.Sprintf(":var(--%s,%s)", t.ink, hex(t.light)))
	}
	return strings.NewReplacer(pairs...).Replace(svg)
}

func hex(c color.NRGBA) string { return fmt.Sprintf("#%02X%02X%02X", c.R, c.G, c.B) }

// drawn matches a text element as vgsvg writes it.
var drawn = regexp.MustCompile(`<text x="([^"]+)" y="([^"]+)" transform="scale\(1, -1\)"\s+style="[^"]*font-weight:(\w+)[^"]*font-size:(\d+)px;fill:([^"]*)">([^<]*)</text>`)

// lettered leaves the typeface to the viewer, and sets the width that the layout assumes for each text, so
// that a wider typeface does not overlap its surroundings.
func lettered(svg string) string {
	return drawn.ReplaceAllStringFunc(svg, func(element string) string {
		m := drawn.FindStringSubmatch(element)
		size, _ := strconv.Atoi(m[4]) // the expression matches digits only
		wide := typeface(vg.Length(size), text, m[3] == "bold").Width(html.UnescapeString(m[6]))
		return fmt.Sprintf(`<text x="%s" y="%s" transform="scale(1,-1)" textLength="%.1f" lengthAdjust="spacingAndGlyphs" font-size="%s" font-weight="%s" style="fill:%s">%s</text>`,
			m[1], m[2], float64(wide), m[4], m[3], m[5], m[6])
	})
}

const (
	border  vg.Length = 4  // around the chart
	leading vg.Length = 17 // the line height of a title
	label   vg.Length = 17 // above a panel, for the label of its vertical axis
	tall    vg.Length = 245
)

func (c Chart) height() vg.Length {
	h := 2*border + leading*vg.Length(len(c.titleLines()))
	for _, p := range c.panels {
		h += label + p.height
	}
	return h
}

// titleLines breaks the title into lines that fit the width.
func (c Chart) titleLines() (lines []string) {
	style := typeface(large, text, true)
	for _, word := range strings.Fields(c.Title) {
		last := len(lines) - 1
		if last >= 0 && style.Width(lines[last]+" "+word) <= width-2*border {
			lines[last] += " " + word
			continue
		}
		lines = append(lines, word)
	}
	return lines
}

// draw draws the title and the panels, one below the other, with their plot areas aligned. It returns the
// tips of all points.
func (c Chart) draw(on draw.Canvas) (found []tip) {
	top := on.Max.Y - border
	for _, line := range c.titleLines() {
		write(on, typeface(large, text, true), border, top, line)
		top -= leading
	}
	plots := make([]*plot.Plot, len(c.panels))
	var left, right vg.Length
	for i, p := range c.panels {
		plots[i] = p.plot(&found)
		left = max(left, plots[i].DataCanvas(on).Min.X)
		right = max(right, p.margin, margin(p.lines))
	}
	for i, p := range c.panels {
		p.drawHeading(on, top)
		top -= label
		area := draw.Crop(on, left-plots[i].DataCanvas(on).Min.X+border, -right-border, 0, 0)
		area.Max.Y, area.Min.Y = top, top-p.height
		plots[i].Draw(area)
		top -= p.height
	}
	return found
}

// drawHeading writes the panel's heading and the label of its vertical axis above it.
func (p panel) drawHeading(on draw.Canvas, top vg.Length) {
	x := border
	if p.heading != "" {
		style := typeface(small, text, true)
		if len(p.lines) > 0 {
			style.Color = p.lines[0].look.ink.light()
		}
		write(on, style, x, top, p.heading)
		x += style.Width(p.heading) + 10
	}
	write(on, typeface(small, muted, false), x, top, p.y.label)
}

func write(on draw.Canvas, style draw.TextStyle, x, top vg.Length, line string) {
	style.YAlign = draw.YTop
	on.FillText(style, vg.Point{X: x, Y: top}, line)
}

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
