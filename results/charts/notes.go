package charts

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

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
