package charts

import (
	"cmp"
	"image/color"
	"slices"

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

// light returns the ink's colour in the light scheme.
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
	shape shape
	dash  []float64
}

func dashes() [][]float64 {
	return [][]float64{nil, {7, 3}, {2, 2.5}, {8, 2.5, 2, 2.5}, {12, 3}, {4, 2}, {1, 3}}
}

// nth returns the look of the i-th series in a colour.
func nth(i int, of ink) look {
	return look{of, shape(i) % shapes, dashes()[i%len(dashes())]}
}

// A form is a form of one or more recipes.
type form struct{ name, family string }

// inksOf returns the colour of each form, which it has in all charts of a result, on every service. The
// first form of a family has the family's colour; the second one of the same recipe has the colour that no
// family has, and further ones share the colour of their family.
func inksOf(runs []results.Run) map[form]ink {
	var forms []form
	recipes := map[form][]string{}
	for _, r := range runs {
		f := form{r.Form, r.Family}
		if recipes[f] == nil {
			forms = append(forms, f)
		}
		if !slices.Contains(recipes[f], r.Recipe) {
			recipes[f] = append(recipes[f], r.Recipe)
		}
	}
	order := []string{"recipe", "load", "naive", "library"}
	slices.SortStableFunc(forms, func(a, b form) int { return cmp.Compare(slices.Index(order, a.family), slices.Index(order, b.family)) })
	inks := map[form]ink{}
	for _, f := range forms {
		used := map[ink]bool{} // by other forms of the same recipes
		for other, ink := range inks {
			if slices.ContainsFunc(recipes[other], func(recipe string) bool { return slices.Contains(recipes[f], recipe) }) {
				used[ink] = true
			}
		}
		inks[f] = familyInk(f.family)
		if used[inks[f]] && !used[load] {
			inks[f] = load
		}
	}
	return inks
}

// looksOf returns the looks of a subject's series, of which each has a shape and dashes of its own. Series of
// one form on several services share its colour.
func looksOf(runs []results.Run, inks map[form]ink) map[string]look {
	s := subject{runs: runs}
	forms := map[string]form{}
	for _, r := range runs {
		forms[s.key(r)] = form{r.Form, r.Family}
	}
	names := s.series()
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(rank(forms[a].family), rank(forms[b].family)) })
	looks := map[string]look{}
	for i, name := range names {
		looks[name] = nth(i, cmp.Or(inks[forms[name]], recipe))
	}
	return looks
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
