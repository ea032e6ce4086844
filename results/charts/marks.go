package charts

import (
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Plot draws the line, its intervals and its shapes.
func (l line) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	path := make([]vg.Point, len(l.at))
	for i, at := range l.at {
		path[i] = vg.Point{X: x(at.x), Y: y(at.y)}
	}
	if len(path) == 0 {
		return
	}
	if l.filled {
		l.fill(c, path)
	}
	style := draw.LineStyle{Color: l.look.ink.light(), Width: 1.8, Dashes: l.look.dash}
	if l.thin {
		style.Width = 1
	}
	if l.joined {
		c.StrokeLines(style, c.ClipLinesXY(path)...)
	}
	for i, at := range l.at {
		if at.low < at.high {
			style := draw.LineStyle{Color: l.look.ink.light(), Width: 1}
			c.StrokeLine2(style, path[i].X, y(max(at.low, p.Y.Min)), path[i].X, y(min(at.high, p.Y.Max)))
		}
		if l.marked {
			c.DrawGlyph(draw.GlyphStyle{Color: l.look.ink.light(), Radius: 3.6, Shape: l.look.shape}, path[i])
		}
	}
}

// fill fills the area between the line and the axis with a transparent colour.
func (l line) fill(c draw.Canvas, path []vg.Point) {
	area := append([]vg.Point{{X: path[0].X, Y: c.Min.Y}}, path...)
	area = append(area, vg.Point{X: path[len(path)-1].X, Y: c.Min.Y})
	c.FillPolygon(veil(l.look.ink.light()), area)
}

// A veil is a colour with an opacity of one fifth. Its components are rounded up: the canvas divides
// them by the opacity and truncates, and so it writes the original colour.
type veil color.NRGBA

// RGBA implements color.Color.
func (v veil) RGBA() (r, g, b, a uint32) {
	const fifth = 0xffff / 5
	part := func(c uint8) uint32 { return (uint32(c)*fifth + 0xfe) / 0xff }
	return part(v.R), part(v.G), part(v.B), fifth
}

// Plot draws the rectangle behind everything else.
func (r rectangle) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	left, right := x(max(r.left, p.X.Min)), x(min(r.right, p.X.Max))
	bottom, top := y(max(r.bottom, p.Y.Min)), y(min(r.top, p.Y.Max))
	c.FillPolygon(band.light(), []vg.Point{{X: left, Y: bottom}, {X: right, Y: bottom}, {X: right, Y: top}, {X: left, Y: top}})
}

// Plot draws the rule from bottom to top, with its name at the top.
func (r rule) Plot(c draw.Canvas, p *plot.Plot) {
	x, _ := p.Transforms(&c)
	c.StrokeLine2(draw.LineStyle{Color: muted.light(), Width: 0.8, Dashes: []vg.Length{3, 2}}, x(r.x), c.Min.Y, x(r.x), c.Max.Y)
	if r.name == "" {
		return
	}
	style := typeface(small, muted, false)
	style.YAlign = draw.YTop
	at := vg.Point{X: x(r.x) + 4, Y: c.Max.Y}
	if at.X+style.Width(r.name) > c.Max.X {
		at.X, style.XAlign = x(r.x)-4, draw.XRight
	}
	c.FillText(style, at, r.name)
}
