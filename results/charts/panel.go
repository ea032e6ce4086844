package charts

// A panel is a coordinate system and the marks drawn in it.
type panel struct {
	heading string // the part of the chart, "" if there is only one panel
	x, y    axis
	bands   []rectangle
	rules   []rule
	lines   []line
	notes   []note
	height  float64 // including the labels
	margin  float64 // to the right, for the names of lines
}

// A line is one series of points.
type line struct {
	name   string // written at the end of the line, "" if it has none
	look   look
	at     []point
	joined bool // the points are joined by a line
	marked bool // each point has the look's shape
	filled bool // the area down to the axis is filled
	thin   bool // calculated values, not measured ones
}

// A point may have an interval, and a text that is shown while the pointer is on it.
type point struct {
	x, y      float64
	low, high float64 // both 0 if there is no interval
	text      string
}

// A rectangle highlights a part of the plane.
type rectangle struct{ left, right, bottom, top float64 }

// A rule is a vertical line at a value of the horizontal axis.
type rule struct {
	x    float64
	name string
}

// aroundRows is the height of a panel of rows besides its rows.
const aroundRows = 46.0

// rows makes the panel one of rows with texts and marks, of the given height together. Its vertical axis has
// neither a grid nor labels.
func (p *panel) rows(high float64) {
	p.y = axis{high: high, gridless: true, ticks: []tick{{value: 0}, {value: high}}}
	p.height = high + aroundRows
}

// These are the heights of the parts of a panel around its data.
const (
	above     = 7.0  // half of the topmost label
	tickGap   = 4.0  // between the data and the ticks
	tickHigh  = 4.0  // of a tick
	labelHigh = 15.0 // of a line of labels
	below     = tickGap + tickHigh + 2*labelHigh
)

// An area is the part of a canvas in which a panel draws its data.
type area struct {
	*canvas
	left, top, right, bottom float64
	of                       panel
}

// locate returns the place of a value.
func (a area) locate(x, y float64) spot { return spot{a.x(x), a.y(y)} }

func (a area) x(value float64) float64 { return a.left + a.of.x.share(value)*(a.right-a.left) }

func (a area) y(value float64) float64 { return a.bottom - a.of.y.share(value)*(a.bottom-a.top) }

// columns returns the left and the right end of the panel's data such that its labels fit into the width.
func (p panel) columns(width float64) (left, right float64) {
	labels := lettering{size: small}
	left, right = border+tickGap, width-border-max(p.margin, margin(p.lines))
	for _, t := range p.y.shown() {
		if t.label != "" {
			left = max(left, border+labels.width(t.label)+2*tickGap)
		}
	}
	for _, t := range p.x.shown() {
		half := labels.width(t.label) / 2
		switch share := p.x.share(t.value); {
		case share < 0.5:
			left = max(left, (border+half-share*right)/(1-share))
		default:
			right = min(right, (width-border-half-(1-share)*left)/share)
		}
	}
	return left, right
}

// draw draws the panel with the top of its area at top, and its data between left and right.
func (p panel) draw(on *canvas, left, right, top float64) {
	a := area{on, left, top + above, right, top + p.height - below, p}
	a.axes()
	for _, b := range p.bands {
		b.draw(a)
	}
	for _, r := range p.rules {
		r.draw(a)
	}
	for _, l := range p.lines {
		l.draw(a)
	}
	for _, n := range p.notes {
		n.draw(a)
	}
	names(p.lines).draw(a)
}

// axes draws the grid, the ticks and their labels, and the label of the horizontal axis. The vertical axis
// has no ticks, which would repeat the grid.
func (a area) axes() {
	labels := lettering{size: small, ink: muted}
	for _, t := range a.of.y.shown() {
		y := a.y(t.value)
		if !a.of.y.gridless {
			a.line(stroke{ink: grid, width: 0.8}, spot{a.left, y}, spot{a.right, y})
		}
		if t.label != "" {
			a.write(labels, a.left-tickGap-labels.width(t.label), labels.middle(y), t.label)
		}
	}
	y := a.bottom + tickGap
	a.line(stroke{ink: muted, width: 0.5}, spot{a.left, y}, spot{a.right, y})
	for _, t := range a.of.x.fitted(a.right - a.left).shown() {
		x := a.x(t.value)
		a.line(stroke{ink: muted, width: 0.5}, spot{x, y}, spot{x, y + tickHigh})
		if t.label != "" {
			a.write(labels, x-labels.width(t.label)/2, labels.top(y+tickHigh), t.label)
		}
	}
	label := a.of.x.label
	a.write(labels, (a.left+a.right-labels.width(label))/2, labels.top(y+tickHigh+labelHigh), label)
}
