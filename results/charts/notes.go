package charts

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A note is words in a panel, from both of its sides. The words at the left give way
// where there is no room for both.
type note struct {
	y           float64 // of its top
	left, right string
	ink         ink // of the right
}

// Plot writes the words.
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

// below is the label of the first axis, in the middle below its ticks.
type below string

// Plot writes it.
func (b below) Plot(c draw.Canvas, _ *plot.Plot) {
	style := typeface(small, muted, false)
	style.XAlign, style.YAlign = draw.XCenter, draw.YTop
	c.FillText(style, vg.Point{X: c.Center().X, Y: c.Min.Y - 23}, string(b))
}

// shortened is the text, with an ellipsis for its end where it is wider than the room.
func shortened(style draw.TextStyle, text string, room vg.Length) string {
	letters := []rune(text)
	for n := len(letters); n > 0 && style.Width(text) > room; n-- {
		text = string(letters[:n-1]) + "…"
	}
	return text
}
