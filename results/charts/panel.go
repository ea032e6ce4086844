package charts

import (
	ximage "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	letters "gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A panel is a coordinate system and the marks drawn in it.
type panel struct {
	heading string // the part of the chart, "" if there is only one panel
	x, y    axis
	bands   []rectangle
	rules   []rule
	lines   []line
	notes   []note
	height  vg.Length // including the labels
	margin  vg.Length // to the right, for the names of lines
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

const (
	small = 11 // for ticks and labels
	large = 13 // for titles
)

func typeface(size vg.Length, of ink, bold bool) letters.Style {
	f := font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
	if bold {
		f.Weight = ximage.WeightBold
	}
	return letters.Style{Color: of.light(), Font: f, Handler: plot.DefaultTextHandler}
}

// plot converts the panel to a plot.Plot. When that is drawn, it adds the panel's tips to those found.
func (p panel) plot(found *[]tip) *plot.Plot {
	g := plot.New()
	g.BackgroundColor = nil
	g.X.Padding, g.Y.Padding = 4, 4
	for _, a := range []struct {
		to   *plot.Axis
		from axis
	}{{&g.X, p.x}, {&g.Y, p.y}} {
		a.to.Min, a.to.Max = a.from.low, a.from.high
		a.to.Tick.Marker = a.from
		a.to.Tick.Label.Font = typeface(small, muted, false).Font
		a.to.Tick.Label.Color = muted.light()
		a.to.Tick.Length = 4
		a.to.Color, a.to.Tick.Color = muted.light(), muted.light()
		if a.from.log {
			a.to.Scale = plot.LogScale{}
		}
	}
	// Ticks at the left would repeat what the grid shows.
	g.Y.LineStyle.Width, g.Y.Tick.Length = 0, 0
	g.X.Label.Text = p.x.label
	if p.x.apart {
		g.X.Label.Text = " " // to keep the height of a label
	}
	g.X.Label.TextStyle.Font, g.X.Label.TextStyle.Color = typeface(small, muted, false).Font, muted.light()
	g.X.Label.Padding = 3
	if !p.y.gridless {
		lines := plotter.NewGrid()
		lines.Vertical.Width = 0
		lines.Horizontal = draw.LineStyle{Color: grid.light(), Width: 0.8}
		g.Add(lines)
	}
	g.Add(p.marks()...)
	g.Add(tips{p.lines, found})
	// The marks must not widen the axes.
	g.X.Min, g.X.Max, g.Y.Min, g.Y.Max = p.x.low, p.x.high, p.y.low, p.y.high
	return g
}

// marks returns the panel's marks, from back to front.
func (p panel) marks() (all []plot.Plotter) {
	for _, b := range p.bands {
		all = append(all, b)
	}
	for _, r := range p.rules {
		all = append(all, r)
	}
	for _, l := range p.lines {
		all = append(all, l)
	}
	if p.x.apart {
		all = append(all, below(p.x.label))
	}
	for _, n := range p.notes {
		all = append(all, n)
	}
	return append(all, names(p.lines))
}
