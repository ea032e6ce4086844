package charts

import (
	"fmt"
	"image/color"
	"strings"

	"github.com/stampede-bench/stampede/results"
)

// These are the widths for which charts are drawn. A chart of a page is drawn for a wide screen and again
// for a phone: if it shrank instead, so would its text.
const (
	phone     = 340.0
	file      = 420.0
	halfPage  = 500.0
	wholePage = 900.0
)

// A drawing is a chart at a width.
type drawing struct {
	Chart
	width float64
}

// fonts are the fonts of the text. The first three have the metrics of Liberation Sans, which the layout
// uses.
const fonts = `Arial,Helvetica,&quot;Liberation Sans&quot;,system-ui,sans-serif`

// Inline returns the chart for a page, as an SVG element for a wide screen and another for a phone. The page
// must set the variables of [Variables], and show either the element of class broad or that of class narrow.
func (c Chart) Inline() string {
	wide := halfPage
	if c.Wide {
		wide = wholePage
	}
	return drawing{c, wide}.element("broad", "") + "\n" + drawing{c, phone}.element("narrow", "")
}

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
		`<rect width="100%%" height="100%%" style="fill:var(--paper)"/>`+"\n", Variables(false), Variables(true), escaped(TipStyle))
	return `<?xml version="1.0" encoding="UTF-8"?>` + "\n" + drawing{c, file}.element("chart", style) + "\n"
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

// element returns the svg element, with the text first at its start. The class is part of its ids, as a page
// has several drawings of a chart.
func (d drawing) element(class, first string) string {
	body := canvas{width: d.width}
	d.draw(&body)
	id := class + "-" + d.Name
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" class="%[9]s" width="%[1]g" height="%[2]g" viewBox="0 0 %[1]g %[2]g" role="img" aria-labelledby="%[3]s-title %[3]s-about" font-family="%[4]s">`+"\n"+
		`<title id="%[3]s-title">%[5]s</title><desc id="%[3]s-about">%[6]s</desc>`+"\n%[7]s%[8]s</svg>",
		d.width, d.height(), id, fonts, escaped(d.Title), escaped(d.About), first, body.svg.String(), class)
}

func hex(c color.NRGBA) string { return fmt.Sprintf("#%02X%02X%02X", c.R, c.G, c.B) }

const (
	border  = 4.0  // around the chart
	leading = 17.0 // the line height of a title
	label   = 17.0 // above a panel, for the label of its vertical axis
	tall    = 245.0
)

func (d drawing) height() float64 {
	h := 2*border + leading*float64(len(d.titleLines()))
	for _, p := range d.panels {
		h += label + p.height
	}
	return h
}

// titleLines breaks the title into lines that fit the width.
func (d drawing) titleLines() (lines []string) {
	style := lettering{large, text, true}
	for _, word := range strings.Fields(d.Title) {
		last := len(lines) - 1
		if last >= 0 && style.width(lines[last]+" "+word) <= d.width-2*border {
			lines[last] += " " + word
			continue
		}
		lines = append(lines, word)
	}
	return lines
}

// draw draws the title and the panels, one below the other, with their data aligned, and in front of them
// the tips of all points.
func (d drawing) draw(on *canvas) {
	top, title := border, lettering{large, text, true}
	for _, line := range d.titleLines() {
		on.write(title, border, title.top(top), line)
		top += leading
	}
	left, right := d.columns()
	for _, p := range d.panels {
		p.drawHeading(on, top)
		p.draw(on, left, right, top+label)
		top += label + p.height
	}
	for _, t := range on.tips {
		t.draw(on)
	}
}

// columns returns the left and the right end of the data of all panels.
func (d drawing) columns() (left, right float64) {
	right = d.width
	for _, p := range d.panels {
		l, r := p.columns(d.width)
		left, right = max(left, l), min(right, r)
	}
	return left, right
}

// drawHeading writes the panel's heading and the label of its vertical axis above it.
func (p panel) drawHeading(on *canvas, top float64) {
	x := border
	if p.heading != "" {
		style := lettering{small, text, true}
		if len(p.lines) > 0 {
			style.ink = p.lines[0].look.ink
		}
		on.write(style, x, style.top(top), p.heading)
		x += style.width(p.heading) + 10
	}
	style := lettering{size: small, ink: muted}
	on.write(style, x, style.top(top), p.y.label)
}

// TipStyle is the style of the values that a chart shows while the pointer is on a point. It needs no
// script. Without it all values are visible at the same time.
const TipStyle = ".tip>g{display:none}.tip:hover>g{display:inline;pointer-events:none}"

// A tip is the text of a point.
type tip struct {
	at   spot
	ink  ink
	text string
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
	tipHeight = 17.0
	tipRadius = 6.0 // how close the pointer must be to a point
)

// draw draws the tip above its point, or below it where there is no room.
func (t tip) draw(on *canvas) {
	style := lettering{size: small, ink: text}
	wide := style.width(t.text)
	x, y := t.at.x, t.at.y
	left := min(max(x-wide/2, border), on.width-border-wide)
	top := y - tipHeight - 8
	if top < border {
		top = y + 8
	}
	fmt.Fprintf(&on.svg, `<g class="tip"><circle cx="%.1f" cy="%.1f" r="%g" style="fill:transparent"/><g>`, x, y, tipRadius)
	fmt.Fprintf(&on.svg, `<circle cx="%.1f" cy="%.1f" r="5" style="fill:none;stroke:%s"/>`, x, y, t.ink.paint())
	fmt.Fprintf(&on.svg, `<rect x="%.1f" y="%.1f" width="%.1f" height="%g" rx="3" style="fill:%s;stroke:%s"/>`, left-4, top, wide+8, tipHeight, paper.paint(), muted.paint())
	on.write(style, left, top+12.5, t.text)
	on.svg.WriteString("</g></g>\n")
}
