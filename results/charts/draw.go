package charts

import (
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

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
