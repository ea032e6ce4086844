package charts

import (
	"cmp"
	"image/color"
	"slices"

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

// names writes the names of lines at their ends, so that readers need no legend. Names of lines that end
// close together move apart.
type names []line

// apart is the minimum distance between two names.
const apart vg.Length = 14

// A place is the position of a name.
type place struct {
	line
	end vg.Point
	y   vg.Length
}

// Plot writes the names.
func (n names) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	var all []place
	for _, l := range n {
		if l.name == "" || len(l.at) == 0 {
			continue
		}
		last := l.at[len(l.at)-1]
		end := vg.Point{X: x(last.x), Y: y(last.y)}
		all = append(all, place{l, end, end.Y})
	}
	if spread(all, c.Min.Y+apart/2, c.Max.Y+apart/2) {
		inColumn(c, all)
	}
	for _, at := range all {
		style := typeface(small, at.look.ink, true)
		style.YAlign = draw.YCenter
		c.FillText(style, vg.Point{X: at.end.X + 8, Y: at.y}, at.name)
	}
}

// inColumn puts the names to the right of all lines, each with a thin line to the end of its own.
func inColumn(c draw.Canvas, all []place) {
	var right vg.Length
	for _, at := range all {
		right = max(right, at.end.X)
	}
	for i, at := range all {
		thread := draw.LineStyle{Color: at.look.ink.light(), Width: 0.6}
		c.StrokeLines(thread, []vg.Point{{X: at.end.X + 2, Y: at.end.Y}, {X: right + 2, Y: at.end.Y}, {X: right + 7, Y: at.y}})
		all[i].end.X = right
	}
}

// spread moves the places apart, within the range from low to high. It reports whether any place had to
// move far.
func spread(all []place, low, high vg.Length) (far bool) {
	slices.SortStableFunc(all, func(a, b place) int { return cmp.Compare(a.y, b.y) })
	for i := range all {
		all[i].y = max(all[i].y, low)
		if i > 0 {
			all[i].y = max(all[i].y, all[i-1].y+apart)
		}
	}
	for i := len(all) - 1; i >= 0; i-- {
		all[i].y = min(all[i].y, high)
		high = all[i].y - apart
		off := all[i].y - all[i].end.Y
		far = far || max(off, -off) > apart/2
	}
	return far
}

// margin returns the width that the names of the lines need.
func margin(lines []line) vg.Length {
	var widest vg.Length
	for _, l := range lines {
		if l.name != "" {
			widest = max(widest, typeface(small, l.look.ink, true).Width(l.name))
		}
	}
	return widest + 8
}

// A note is text at the left and the right side of a panel. The text at the left is shortened if there is
// no room for both.
type note struct {
	y           float64 // the top of the text
	left, right string
	ink         ink // of the text at the right
}

// Plot writes the text.
func (n note) Plot(c draw.Canvas, p *plot.Plot) {
	_, y := p.Transforms(&c)
	style := typeface(small, n.ink, true)
	style.YAlign, style.XAlign = draw.YTop, draw.XRight
	c.FillText(style, vg.Point{X: c.Max.X, Y: y(n.y)}, n.right)
	room := c.Max.X - c.Min.X - style.Width(n.right) - 8
	style = typeface(small, text, n.right == "")
	style.YAlign = draw.YTop
	c.FillText(style, vg.Point{X: c.Min.X, Y: y(n.y)}, shortened(style, n.left, room))
}

// below is the label of the horizontal axis, centred below its ticks.
type below string

// Plot writes the label.
func (b below) Plot(c draw.Canvas, _ *plot.Plot) {
	style := typeface(small, muted, false)
	style.XAlign, style.YAlign = draw.XCenter, draw.YTop
	c.FillText(style, vg.Point{X: c.Center().X, Y: c.Min.Y - 23}, string(b))
}

// shortened shortens the text with an ellipsis if it is wider than the room.
func shortened(style draw.TextStyle, text string, room vg.Length) string {
	letters := []rune(text)
	for n := len(letters); n > 0 && style.Width(text) > room; n-- {
		text = string(letters[:n-1]) + "…"
	}
	return text
}
