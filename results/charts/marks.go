package charts

import (
	"cmp"
	"slices"
)

// draw draws the line, its intervals and its shapes, and notes its tips. Lines end at the edges of the area.
func (l line) draw(a area) {
	path := make([]spot, len(l.at))
	for i, p := range l.at {
		path[i] = a.locate(p.x, p.y)
	}
	if len(path) == 0 {
		return
	}
	l.path(a, path)
	for i, p := range l.at {
		if p.low < p.high {
			a.line(stroke{ink: l.look.ink, width: 1},
				a.locate(p.x, max(p.low, a.of.y.low)), a.locate(p.x, min(p.high, a.of.y.high)))
		}
		if l.marked {
			a.mark(l.look.shape, l.look.ink, path[i])
		}
		if p.text != "" {
			a.tips = append(a.tips, tip{path[i], l.look.ink, p.text})
		}
	}
}

// path draws the line itself, and the area below it if it is filled.
func (l line) path(a area, path []spot) {
	if l.filled {
		corners := append([]spot{{path[0].x, a.bottom}}, path...)
		a.fill(l.look.ink, 0.2, append(corners, spot{path[len(path)-1].x, a.bottom})...)
	}
	style := stroke{ink: l.look.ink, width: 1.8, dash: l.look.dash}
	if l.thin {
		style.width = 1
	}
	if l.joined {
		for _, piece := range a.pieces(path) {
			a.line(style, piece...)
		}
	}
}

// pieces returns the parts of a path that are inside the area.
func (a area) pieces(path []spot) (all [][]spot) {
	joined := false // whether the last piece ends where the next segment starts
	for i := 1; i < len(path); i++ {
		from, to, inside := a.clip(path[i-1], path[i])
		switch {
		case inside && joined:
			all[len(all)-1] = append(all[len(all)-1], to)
		case inside:
			all = append(all, []spot{from, to})
		}
		joined = inside && to == path[i]
	}
	return all
}

// clip returns the part of a segment that is inside the area (the algorithm of Liang and Barsky).
func (a area) clip(from, to spot) (start, end spot, any bool) {
	first, last := 0.0, 1.0 // shares of the segment
	dx, dy := to.x-from.x, to.y-from.y
	for _, edge := range []struct{ step, room float64 }{
		{-dx, from.x - a.left}, {dx, a.right - from.x}, {-dy, from.y - a.top}, {dy, a.bottom - from.y},
	} {
		switch {
		case edge.step == 0 && edge.room < 0:
			return start, end, false
		case edge.step < 0:
			first = max(first, edge.room/edge.step)
		case edge.step > 0:
			last = min(last, edge.room/edge.step)
		}
	}
	if first > last {
		return start, end, false
	}
	start, end = from, to
	if first > 0 {
		start = spot{from.x + first*dx, from.y + first*dy}
	}
	if last < 1 {
		end = spot{from.x + last*dx, from.y + last*dy}
	}
	return start, end, true
}

// draw draws the rectangle behind everything else.
func (r rectangle) draw(a area) {
	x, y := a.of.x, a.of.y
	left, right := a.x(max(r.left, x.low)), a.x(min(r.right, x.high))
	bottom, top := a.y(max(r.bottom, y.low)), a.y(min(r.top, y.high))
	a.fill(band, 1, spot{left, bottom}, spot{right, bottom}, spot{right, top}, spot{left, top})
}

// draw draws the rule from bottom to top, with its name at the top.
func (r rule) draw(a area) {
	x := a.x(r.x)
	a.line(stroke{ink: muted, width: 0.8, dash: []float64{3, 2}}, spot{x, a.bottom}, spot{x, a.top})
	if r.name == "" {
		return
	}
	style := lettering{size: small, ink: muted}
	start := x + 4
	if start+style.width(r.name) > a.right {
		start = x - 4 - style.width(r.name)
	}
	a.write(style, start, style.top(a.top), r.name)
}

// names writes the names of lines at their ends, so that readers need no legend. Names of lines that end
// close together move apart.
type names []line

// apart is the minimum distance between two names.
const apart = 14.0

// A place is the position of a name.
type place struct {
	line
	end spot
	y   float64
}

// draw writes the names.
func (n names) draw(a area) {
	var all []place
	for _, l := range n {
		if l.name == "" || len(l.at) == 0 {
			continue
		}
		last := l.at[len(l.at)-1]
		end := a.locate(last.x, last.y)
		all = append(all, place{l, end, end.y})
	}
	if spread(all, a.top-apart/2, a.bottom-apart/2) {
		inColumn(a, all)
	}
	for _, at := range all {
		style := lettering{small, at.look.ink, true}
		a.write(style, at.end.x+8, style.middle(at.y), at.name)
	}
}

// inColumn puts the names to the right of all lines, each with a thin line to the end of its own.
func inColumn(a area, all []place) {
	var right float64
	for _, at := range all {
		right = max(right, at.end.x)
	}
	for i, at := range all {
		a.line(stroke{ink: muted, width: 0.4},
			spot{at.end.x + 2, at.end.y}, spot{right + 2, at.end.y}, spot{right + 7, at.y})
		all[i].end.x = right
	}
}

// spread moves the places apart, within the range from top to bottom. It reports whether any place had to
// move far.
func spread(all []place, top, bottom float64) (far bool) {
	slices.SortStableFunc(all, func(a, b place) int { return cmp.Compare(a.y, b.y) })
	for i := range all {
		all[i].y = max(all[i].y, top)
		if i > 0 {
			all[i].y = max(all[i].y, all[i-1].y+apart)
		}
	}
	for i := len(all) - 1; i >= 0; i-- {
		all[i].y = min(all[i].y, bottom)
		bottom = all[i].y - apart
		off := all[i].y - all[i].end.y
		far = far || max(off, -off) > apart/2
	}
	return far
}

// margin returns the width that the names of the lines need.
func margin(lines []line) float64 {
	var widest float64
	for _, l := range lines {
		if l.name != "" {
			widest = max(widest, lettering{small, l.look.ink, true}.width(l.name))
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

// draw writes the text.
func (n note) draw(a area) {
	right := lettering{small, n.ink, true}
	from := a.right - right.width(n.right)
	y := a.y(n.y)
	a.write(right, from, right.top(y), n.right)
	left := lettering{small, text, n.right == ""}
	a.write(left, a.left, left.top(y), left.shortened(n.left, from-8-a.left))
}
