package charts

import (
	"fmt"
	"html"
	"strings"

	"github.com/stampede-bench/stampede/internal/printable"
)

// A spot is a place in a canvas, in CSS pixels from its top left corner.
type spot struct{ x, y float64 }

// A canvas collects SVG elements, from back to front, and the tips that belong in front of all of them.
type canvas struct {
	width float64
	svg   strings.Builder
	tips  []tip
}

// paint returns an ink as an SVG colour: the page's variable, or the colour of the light scheme for viewers
// that do not support variables.
func (i ink) paint() string { return fmt.Sprintf("var(--%s,%s)", i, hex(i.light())) }

// A stroke is how a line is drawn.
type stroke struct {
	ink   ink
	width float64
	dash  []float64 // the lengths of dashes and gaps, nil if it has none
}

// line draws a line through the spots.
func (c *canvas) line(s stroke, through ...spot) {
	fmt.Fprintf(&c.svg, `<polyline points="%s" style="fill:none;stroke:%s;stroke-width:%g`, points(through), s.ink.paint(), s.width)
	for i, length := range s.dash {
		c.svg.WriteString([]string{";stroke-dasharray:", ","}[min(i, 1)])
		fmt.Fprintf(&c.svg, "%g", length)
	}
	c.svg.WriteString("\"/>\n")
}

// fill fills the polygon with the corners.
func (c *canvas) fill(of ink, opacity float64, corners ...spot) {
	fmt.Fprintf(&c.svg, `<polygon points="%s" style="fill:%s;fill-opacity:%g"/>`+"\n", points(corners), of.paint(), opacity)
}

func points(all []spot) string {
	var words []string
	for _, s := range all {
		words = append(words, fmt.Sprintf("%.2f,%.2f", s.x, s.y))
	}
	return strings.Join(words, " ")
}

// A shape marks a point, so that series differ without colour.
type shape int

const (
	disc shape = iota
	pyramid
	box
	ring
	square
	triangle
	cross
	shapes // the number of shapes
)

// mark draws the shape around the spot.
func (c *canvas) mark(s shape, of ink, at spot) {
	const radius = 3.6
	style := "fill:" + of.paint()
	if s >= ring {
		style = "fill:none;stroke-width:0.7;stroke:" + of.paint()
	}
	switch x, y := at.x, at.y; s {
	case disc, ring:
		fmt.Fprintf(&c.svg, `<circle cx="%.2f" cy="%.2f" r="%g" style="%s"/>`+"\n", x, y, radius, style)
	case pyramid, triangle:
		const high, half = 1.3 * radius, 1.1 * radius
		corners := []spot{{x, y - high}, {x + half, y + high/2}, {x - half, y + high/2}}
		fmt.Fprintf(&c.svg, `<polygon points="%s" style="%s"/>`+"\n", points(corners), style)
	case box, square:
		const half = 0.85 * radius
		fmt.Fprintf(&c.svg, `<rect x="%.2f" y="%.2f" width="%g" height="%g" style="%s"/>`+"\n", x-half, y-half, 2*half, 2*half, style)
	case cross:
		const half = 0.7 * radius
		c.line(stroke{ink: of, width: 1}, spot{x - half, y - half}, spot{x + half, y + half})
		c.line(stroke{ink: of, width: 1}, spot{x - half, y + half}, spot{x + half, y - half})
	}
}

// A lettering is the style of a text.
type lettering struct {
	size float64 // of the typeface
	ink  ink
	bold bool
}

const (
	small = 11 // for ticks and labels
	large = 13 // for titles
)

// top returns the baseline of a text whose line begins at y.
func (l lettering) top(y float64) float64 { return y + 0.9*l.size }

// middle returns the baseline of a text with the middle of its capitals at y.
func (l lettering) middle(y float64) float64 { return y + 0.36*l.size }

// write draws a text that starts at x. Its length is the one that the layout assumes, so that a wider
// typeface of the viewer does not overlap its surroundings.
func (c *canvas) write(l lettering, x, baseline float64, text string) {
	weight := "normal"
	if l.bold {
		weight = "bold"
	}
	fmt.Fprintf(&c.svg, `<text x="%.2f" y="%.2f" textLength="%.1f" lengthAdjust="spacingAndGlyphs" font-size="%g" font-weight="%s" style="fill:%s">%s</text>`+"\n",
		x, baseline, l.width(text), l.size, weight, l.ink.paint(), escaped(text))
}

// escaped returns a text as an element of the drawing has it. What a name has besides printable characters is escaped.
func escaped(text string) string { return html.EscapeString(printable.Text(text)) }

// width returns the width of a text in Arial, Helvetica or Liberation Sans, whose metrics are the same.
func (l lettering) width(text string) (sum float64) {
	widths := &regular
	if l.bold {
		widths = &bold
	}
	for _, r := range text {
		switch i := r - ' '; {
		case i >= 0 && int(i) < len(widths):
			sum += float64(widths[i])
		case others[r] > 0:
			sum += float64(others[r])
		case r < 0x2e80: // other letters and signs
			sum += 600
		default: // signs of East Asia, which are as wide as high
			sum += 1000
		}
	}
	return sum * l.size / 1000
}

// These are the widths of the signs from the space to the tilde, in thousandths of the size (Adobe's font
// metrics of Helvetica and Helvetica-Bold).
var (
	regular = [...]int{
		278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278,
		556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556,
		1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778,
		667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556,
		333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556,
		556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
	}
	bold = [...]int{
		278, 333, 474, 556, 556, 889, 722, 238, 333, 333, 389, 584, 278, 333, 278, 278,
		556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 333, 333, 584, 584, 584, 611,
		975, 722, 722, 722, 722, 667, 611, 778, 722, 278, 556, 722, 611, 833, 722, 778,
		667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 333, 278, 333, 584, 556,
		333, 556, 611, 556, 611, 556, 333, 611, 611, 278, 278, 556, 278, 889, 611, 611,
		611, 611, 389, 556, 333, 611, 556, 778, 556, 556, 500, 389, 280, 389, 584,
	}
)

// others are the widths of the signs beyond ASCII that charts use.
var others = map[rune]int{
	'\u00a0': 278, '\u202f': 200, '–': 556, '—': 1000, '…': 1000, '·': 333, '’': 278, '“': 500, '”': 500,
	'−': 584, '×': 584, '÷': 549, '±': 549, '≤': 549, '≥': 549, '∞': 713, '→': 1000, '²': 333, 'µ': 576,
}

// shortened shortens the text with an ellipsis if it is wider than the room.
func (l lettering) shortened(text string, room float64) string {
	letters := []rune(text)
	for n := len(letters); n > 0 && l.width(text) > room; n-- {
		text = string(letters[:n-1]) + "…"
	}
	return text
}
