package charts

import (
	"cmp"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// names are written at the ends of their lines, so that nobody has to look up a
// legend. Where lines end close together their names move apart.
type names []line

// apart is the least between two names.
const apart vg.Length = 14

// A place is where a name goes.
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

// inColumn sets names that do not stand beside their ends right of all lines, each
// with a thread to its end.
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

// spread moves the places apart, and none below the lowest or above the highest
// that there is room for. It tells whether one had to move far.
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

// margin is the room that the names of the lines need.
func margin(lines []line) vg.Length {
	var widest vg.Length
	for _, l := range lines {
		if l.name != "" {
			widest = max(widest, typeface(small, l.look.ink, true).Width(l.name))
		}
	}
	return widest + 8
}
