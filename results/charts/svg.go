package charts

import (
	"bytes"
	"fmt"
	"html"
	"image/color"
	"regexp"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/stampede-bench/stampede/results"
)

// width is the width of every chart. It is narrow, so that the text, which shrinks with the chart, can
// still be read on a phone.
const width vg.Length = 420

// fonts are the fonts of the text. The first three have the metrics of Liberation Sans, which the layout
// uses.
const fonts = `Arial,Helvetica,&quot;Liberation Sans&quot;,system-ui,sans-serif`

// Inline returns the chart as an SVG element for a page. The page must set the variables of [Variables].
func (c Chart) Inline() string { return c.element("") }

// A File is a chart as a standalone file.
type File struct{ Name, SVG string }

// Files returns the charts of a result as standalone SVG files, named by what they show. They contain the
// colours of both the light and the dark scheme.
func Files(result results.Result) (all []File) {
	for _, c := range Charts(result) {
		all = append(all, File{c.Name + ".svg", c.alone()})
	}
	return all
}

func (c Chart) alone() string {
	style := fmt.Sprintf("<style>:root{%s;color-scheme:light dark}\n@media (prefers-color-scheme:dark){:root{%s}}%s</style>\n"+
		`<rect width="100%%" height="100%%" style="fill:var(--paper)"/>`+"\n", Variables(false), Variables(true), html.EscapeString(TipStyle))
	return `<?xml version="1.0" encoding="UTF-8"?>` + "\n" + c.element(style) + "\n"
}

// Variables returns the colours as CSS declarations.
func Variables(dark bool) string {
	var all []string
	for _, t := range tints() {
		value := t.light
		if dark {
			value = t.dark
		}
		all = append(all, "--"+string(t.ink)+":"+hex(value))
	}
	return strings.Join(all, ";")
}

// element returns the svg element, with the text first at its start.
func (c Chart) element(first string) string {
	canvas := vgsvg.New(width, c.height())
	found := c.draw(draw.New(canvas))
	var b bytes.Buffer
	canvas.WriteTo(&b) // writes into memory
	body := b.String()
	body = body[strings.Index(body, "<g "):]
	body = painted(lettered(body))
	body = strings.TrimSuffix(strings.TrimSpace(body), "</svg>")
	for _, t := range found {
		body += t.element(c.height()) + "\n"
	}
	id := "chart-" + c.Name
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%g" height="%g" viewBox="0 0 %[1]g %[2]g" role="img" aria-labelledby="%[3]s-title %[3]s-about" font-family="%[4]s">`+"\n"+
		`<title id="%[3]s-title">%[5]s</title><desc id="%[3]s-about">%[6]s</desc>`+"\n%[7]s%[8]s</svg>",
		float64(width), float64(c.height()), id, fonts, html.EscapeString(c.Title), html.EscapeString(c.About), first, body)
}

// painted replaces the colours with CSS variables. The colours remain as fallbacks for viewers that do
// not support variables.
func painted(svg string) string {
	var pairs []string
	for _, t := range tints() {
		pairs = append(pairs, ":"+hex(t.light), fmt.Sprintf(":var(--%s,%s)", t.ink, hex(t.light)))
	}
	return strings.NewReplacer(pairs...).Replace(svg)
}

func hex(c color.NRGBA) string { return fmt.Sprintf("#%02X%02X%02X", c.R, c.G, c.B) }

// drawn matches a text element as vgsvg writes it.
var drawn = regexp.MustCompile(`<text x="([^"]+)" y="([^"]+)" transform="scale\(1, -1\)"\s+style="[^"]*font-weight:(\w+)[^"]*font-size:(\d+)px;fill:([^"]*)">([^<]*)</text>`)

// lettered leaves the typeface to the viewer, and sets the width that the layout assumes for each text, so
// that a wider typeface does not overlap its surroundings.
func lettered(svg string) string {
	return drawn.ReplaceAllStringFunc(svg, func(element string) string {
		m := drawn.FindStringSubmatch(element)
		size, _ := strconv.Atoi(m[4]) // the expression matches digits only
		wide := typeface(vg.Length(size), text, m[3] == "bold").Width(html.UnescapeString(m[6]))
		return fmt.Sprintf(`<text x="%s" y="%s" transform="scale(1,-1)" textLength="%.1f" lengthAdjust="spacingAndGlyphs" font-size="%s" font-weight="%s" style="fill:%s">%s</text>`,
			m[1], m[2], float64(wide), m[4], m[3], m[5], m[6])
	})
}
