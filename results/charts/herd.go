package charts

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/stampede-bench/stampede/results/stats"
	"github.com/stampede-bench/stampede/results/units"
)

// notifications draws the notifications per round against the number of clients, which shows the herd.
// It needs two levels.
func notifications(s subject) *Chart {
	measured := map[string][]point{}
	model := map[string][]point{}
	for _, r := range s.runs {
		if r.Cost.PerRound == nil {
			continue
		}
		if v := r.Cost.PerRound.Notifications; v > 0 {
			measured[s.key(r)] = append(measured[s.key(r)], point{x: float64(r.Clients), y: v})
		}
		modelled(model, s.key(r), r)
	}
	return herd(s, measured, model)
}

func herd(s subject, measured, model map[string][]point) *Chart {
	p := panel{height: tall}
	var about []string
	drawn := "Points were measured"
	for _, name := range s.series() {
		look := s.looks[name]
		if len(model[name]) > 1 {
			p.lines = append(p.lines, line{look: look.faint(), at: sorted(model[name]), joined: true, thin: true})
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
			return fmt.Sprintf("%s, %s: %s notifications per round%s", name, units.Clients(int(p.x)), units.Rate(p.y), p.interval(units.Rate))
		}))
		first, last := dots[0], dots[len(dots)-1]
		about = append(about, fmt.Sprintf("%s: %s with %s clients, %s with %s%s", name, units.Rate(first.y), number(first.x), units.Rate(last.y), number(last.x), strings.Replace(grows, " ∝", ", growing as", 1)))
	}
	xs := valuesOf(p.lines, func(p point) float64 { return p.x })
	if len(slices.Compact(slices.Sorted(slices.Values(xs)))) < 2 {
		return nil
	}
	if slices.ContainsFunc(p.lines, func(l line) bool { return l.thin && l.look.ink != muted }) {
		drawn += ", coloured lines are powers of N, the number of clients, fitted to the larger half of the levels"
	}
	if slices.ContainsFunc(p.lines, func(l line) bool { return l.look.ink == muted }) {
		drawn += ", grey lines are the cost model of a round in which all clients take part"
	}
	p.x = exactly("clients", xs, number)
	p.y = topped("notifications per round", valuesOf(p.lines, func(p point) float64 { return p.y }), number)
	c := &Chart{
		Name:    slug(s.name, "notifications"),
		Title:   titled("Notifications per round against clients", s),
		Caption: "A rising line is a herd, a flat line is none. " + drawn + ".",
		panels:  []panel{p},
	}
	c.About = c.Title + ". " + strings.Join(about, "; ") + "."
	return c
}

// faint returns the look of calculated values, drawn behind the measured ones.
func (l look) faint() look { return look{ink: muted, shape: l.shape} }

// power fits a power of the number of clients to a form's notifications. It returns the power in words
// and its line, or nothing if no power fits. The fit uses the upper half of the levels, at least three:
// the number of waiting clients, N−1, is a power of N only if N is large.
func (s subject) power(name string) (grows string, law []point) {
	values := map[float64][]float64{}
	for _, r := range s.runs {
		if s.key(r) == name && r.Cost.PerRound != nil {
			values[float64(r.Clients)] = append(values[float64(r.Clients)], r.Cost.PerRound.Notifications)
		}
	}
	var levels []stats.Level
	for _, n := range slices.Sorted(maps.Keys(values)) {
		levels = append(levels, stats.Level{N: n, Values: values[n]})
	}
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
	return strings.Replace(fmt.Sprintf(" ∝ N^%.2f", p.Exponent.Value), "-", "−", 1), law
}

// loose is the maximum factor between a value and the fitted power; beyond it, the power is not drawn.
const loose = 1.5

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
