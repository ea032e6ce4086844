package charts

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/stampede-bench/stampede/results/stats"
	"github.com/stampede-bench/stampede/results/units"
)

// notifications draws the figure of the recipe's herd against the number of clients. It needs two levels.
func notifications(s subject) *Chart {
	measured := map[string][]point{}
	model := map[string][]point{}
	for _, r := range s.runs {
		if v, _ := s.herd().Figure.RunValue(r); v > 0 {
			measured[s.key(r)] = append(measured[s.key(r)], point{x: float64(r.Clients), y: v})
		}
		expect(model, s.key(r), r)
	}
	return herd(s, measured, model)
}

func herd(s subject, measured, model map[string][]point) *Chart {
	p, of := panel{height: tall}, s.herd()
	var about []string
	drawn := "Points were measured"
	for _, name := range s.series() {
		look := s.looks[name]
		if len(model[name]) > 1 {
			p.lines = append(p.lines, modelled(look, sorted(model[name]), p.lines))
		}
		dots := sorted(measured[name])
		if len(dots) == 0 {
			continue
		}
		grows, law := s.power(name)
		if len(law) > 0 {
			p.lines = append(p.lines, line{look: look, at: law, joined: true, thin: true})
		}
		p.lines = append(p.lines, line{name: name + grows, look: look, at: dots, marked: true}.saying(func(p point) string {
			return fmt.Sprintf("%s, %s: %s %s%s", name, units.Clients(int(p.x)), units.Rate(p.y), of.Per, p.interval(units.Rate))
		}))
		first, last := dots[0], dots[len(dots)-1]
		about = append(about, fmt.Sprintf("%s: %s with %s clients, %s with %s%s", name, units.Rate(first.y), number(first.x), units.Rate(last.y), number(last.x), strings.Replace(grows, " ∝", ", growing as", 1)))
	}
	xs := valuesOf(p.lines, func(p point) float64 { return p.x })
	if len(slices.Compact(slices.Sorted(slices.Values(xs)))) < 2 {
		return nil
	}
	if slices.ContainsFunc(p.lines, func(l line) bool { return l.thin && l.look.ink != muted }) {
		drawn += "; coloured lines are powers of N, the number of clients, fitted to the larger half of the levels, at least three"
	}
	if slices.ContainsFunc(p.lines, func(l line) bool { return l.look.ink == muted }) {
		drawn += "; the cost model is that of a round in which all clients take part"
	}
	p.x = exactly("clients", xs, number)
	p.y = topped(of.Per, valuesOf(p.lines, func(p point) float64 { return p.y }), number)
	c := &Chart{
		Name:    slug(s.name, of.Name),
		Title:   titled(strings.ToUpper(of.Per[:1])+of.Per[1:]+" against clients", s),
		Caption: "A rising line is a herd, a flat line is none. " + drawn + ".",
		panels:  []panel{p},
	}
	c.About = c.Title + ". " + strings.Join(about, "; ") + "."
	return c
}

// modelled returns the line of what the cost model expects, drawn behind what was measured. It has no name if
// one of the lines with a name ends where it does.
func modelled(l look, at []point, lines []line) line {
	model := line{name: costModel, look: look{ink: muted, shape: l.shape}, at: at, joined: true, thin: true}
	if slices.ContainsFunc(lines, func(o line) bool {
		return len(at) > 0 && len(o.at) > 0 && o.name == costModel && math.Abs(o.at[len(o.at)-1].y/at[len(at)-1].y-1) < 0.1
	}) {
		model.name = ""
	}
	return model
}

const costModel = "cost model"

// power fits a power of the number of clients to the figure of a form's herd. It returns the power in words
// and its line, or nothing if no power fits. The fit uses the upper half of the levels, at least three:
// the number of waiting clients, N−1, is a power of N only if N is large.
func (s subject) power(name string) (grows string, law []point) {
	values := map[float64][]float64{}
	for _, r := range s.runs {
		if v, known := s.herd().Figure.RunValue(r); known && s.key(r) == name {
			values[float64(r.Clients)] = append(values[float64(r.Clients)], v)
		}
	}
	var levels []stats.Level
	for _, n := range slices.Sorted(maps.Keys(values)) {
		levels = append(levels, stats.Level{N: n, Values: values[n]})
	}
	long := len(levels) > 0 && levels[len(levels)-1].N >= shortest*levels[0].N
	levels = levels[max(0, min(len(levels)/2, len(levels)-3)):]
	p, ok := stats.Grow(levels)
	if !ok {
		return "", nil
	}
	for _, l := range levels {
		for _, v := range l.Values {
			if off := v / p.Value(l.N); off > loose || off < 1/loose {
				return "", nil
			}
		}
	}
	for _, n := range []float64{levels[0].N, levels[len(levels)-1].N} {
		law = append(law, point{x: n, y: p.Value(n)})
	}
	switch stats.GrowthOf(p.Exponent) {
	case stats.Flat:
		return ", flat", law
	case stats.NotKnown:
		return "", nil
	}
	if !long {
		return "", nil
	}
	return strings.Replace(fmt.Sprintf(" ∝ N^%.2f", p.Exponent.Value), "-", "−", 1), law
}

// loose is the maximum factor between a value and the fitted power; beyond it, the power is not drawn.
const loose = 1.5

// shortest is the smallest ratio of the largest level to the smallest for an exponent: over fewer than
// three doublings the number of waiting clients, N−1, looks like a steeper power than N. A sweep's table
// has the interval that shows it; the chart has no room for that.
const shortest = 8

func sorted(points []point) []point {
	points = slices.Clone(points)
	slices.SortStableFunc(points, byX)
	return points
}

// titled adds the name of the subject to the title.
func titled(title string, s subject) string {
	if s.name == "" {
		return title
	}
	return title + ", " + s.name
}
