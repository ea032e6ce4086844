package charts

import (
	"cmp"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

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
