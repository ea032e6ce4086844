package charts

import (
	"cmp"
	"image/color"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/stampede-bench/stampede/results"
)

// An ink is a colour, named after its purpose. In SVG it is a CSS variable of that name, whose values
// for the light and the dark scheme are defined by the page, or by a standalone file.
type ink string

const (
	paper   ink = "paper"
	text    ink = "ink"
	muted   ink = "muted"
	grid    ink = "grid"
	band    ink = "band"
	recipe  ink = "recipe"
	naive   ink = "naive"
	library ink = "library"
	load    ink = "load"
)

// A tint is the colour of an ink in both schemes.
type tint struct {
	ink         ink
	light, dark color.NRGBA
}

// tints returns the colours of all inks. Those of series have the hues of Okabe and Ito, which people
// with colour blindness can distinguish, at a lightness with enough contrast for text.
func tints() []tint {
	return []tint{
		{paper, rgb(0xffffff), rgb(0x14171a)},
		{text, rgb(0x1b1f23), rgb(0xe6e8ea)},
		{muted, rgb(0x59616a), rgb(0x9aa3ac)},
		{grid, rgb(0xe3e6e9), rgb(0x2c3238)},
		{band, rgb(0xeef1f4), rgb(0x22272c)},
		{recipe, rgb(0x0072b2), rgb(0x56b4e9)},
		{naive, rgb(0xb84a00), rgb(0xf08a4b)},
		{library, rgb(0x00775a), rgb(0x2fc79a)},
		{load, rgb(0x9a4c7f), rgb(0xd994bd)},
	}
}

// light returns the ink's colour in the light scheme. Charts are drawn with it before variables replace
// it.
func (i ink) light() color.NRGBA {
	all := tints()
	return all[slices.IndexFunc(all, func(t tint) bool { return t.ink == i })].light
}

func rgb(hex uint32) color.NRGBA {
	return color.NRGBA{R: uint8(hex >> 16), G: uint8(hex >> 8), B: uint8(hex), A: 0xff}
}

// A look distinguishes a series from others: by colour, and without colour by shape and dashes.
type look struct {
	ink   ink
	shape draw.GlyphDrawer
	dash  []vg.Length
}

func shapes() []draw.GlyphDrawer {
	return []draw.GlyphDrawer{draw.CircleGlyph{}, draw.PyramidGlyph{}, draw.BoxGlyph{}, draw.RingGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.CrossGlyph{}}
}

func dashes() [][]vg.Length {
	return [][]vg.Length{nil, {7, 3}, {2, 2.5}, {8, 2.5, 2, 2.5}, {12, 3}, {4, 2}, {1, 3}}
}

// nth returns the look of the i-th series in a colour.
func nth(i int, of ink) look {
	return look{of, shapes()[i%len(shapes())], dashes()[i%len(dashes())]}
}

// looksOf returns the looks of a subject's series. The first series of a family has the family's
// colour; further ones have a colour that no other series has, naive forms first. When the four
// colours are used up, series of a family share its colour and differ by shape and dashes.
func looksOf(runs []results.Run) map[string]look {
	s := subject{runs: runs}
	names := s.series()
	families := map[string]string{}
	for _, r := range runs {
		families[s.key(r)] = r.Family
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(rank(families[a]), rank(families[b])) })
	inks := map[string]ink{}
	used := map[ink]bool{}
	for _, family := range []string{"recipe", "load", "naive", "library"} {
		for _, name := range names {
			if families[name] != family {
				continue
			}
			of := familyInk(family)
			if used[of] {
				of = unused(used, of)
			}
			inks[name], used[of] = of, true
		}
	}
	looks := map[string]look{}
	for i, name := range names {
		looks[name] = nth(i, cmp.Or(inks[name], recipe))
	}
	return looks
}

// unused returns a colour that no series has. If there is none, it returns the family's own, and for a
// library form the recipe's: it avoids the herd too.
func unused(used map[ink]bool, own ink) ink {
	for _, of := range []ink{load, library, naive, recipe} {
		if !used[of] {
			return of
		}
	}
	if own == library {
		return recipe
	}
	return own
}

// colours returns the colours of series.
func colours() []ink { return []ink{recipe, naive, library, load} }

func familyInk(family string) ink {
	switch family {
	case "naive":
		return naive
	case "library":
		return library
	case "load":
		return load
	}
	return recipe
}
