package charts

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/units"
)

// ofCount draws the cost of a round at rest against the number of clients, for each recipe.
func ofCount(r results.CountReport) (all []Chart) {
	var recipes []string
	var runs []results.Run
	for _, s := range r.Settled {
		runs = append(runs, results.Run{Recipe: s.Recipe, Form: s.Form, Family: s.Family})
		if !slices.Contains(recipes, s.Recipe) {
			recipes = append(recipes, s.Recipe)
		}
	}
	inks := inksOf(runs)
	for _, recipe := range recipes {
		rows := slices.DeleteFunc(slices.Clone(r.Settled), func(s results.Settled) bool { return s.Recipe != recipe })
		all = append(all, some(counted(recipe, rows, inks, woken()), counted(recipe, rows, inks, asked()))...)
	}
	return all
}

// A toll is a kind of cost.
type toll struct {
	name, title, axis string
	parts             func(results.Settled) []results.Exact
	caption           string
}

func woken() toll {
	return toll{"notifications", "Notifications per round", "notifications per round",
		func(s results.Settled) []results.Exact { return []results.Exact{s.Notifications} },
		"A rising line is a herd if one client at a time can proceed; a form without notifications has none."}
}

func asked() toll {
	return toll{"operations", "Reads and writes per round", "reads and writes per round",
		func(s results.Settled) []results.Exact { return []results.Exact{s.Reads, s.Writes} },
		"Requests that the service answers, failed writes included."}
}

func counted(recipe string, rows []results.Settled, inks map[form]ink, cost toll) *Chart {
	of := subject{name: recipe}
	for _, row := range rows {
		of.runs = append(of.runs, results.Run{Recipe: row.Recipe, Form: row.Form, Family: row.Family, Backend: row.Backend, Clients: row.Clients})
	}
	of.looks = looksOf(of.runs, inks)
	p := panel{height: tall}
	var about []string
	for _, name := range of.series() {
		l, model := tally(of, rows, name, cost)
		if len(l.at) < 2 {
			continue
		}
		p.lines = append(p.lines, modelled(l.look, model, p.lines), l.saying(func(p point) string {
			return fmt.Sprintf("%s, %s: %s per round", name, units.Clients(int(p.x)), units.Rate(p.y))
		}))
		first, last := l.at[0], l.at[len(l.at)-1]
		about = append(about, fmt.Sprintf("%s: %s with %s clients, %s with %s", name, units.Rate(first.y), number(first.x), units.Rate(last.y), number(last.x)))
	}
	if len(p.lines) == 0 {
		return nil
	}
	p.x = exactly("clients", valuesOf(p.lines, func(p point) float64 { return p.x }), number)
	p.y = topped(cost.axis, valuesOf(p.lines, func(p point) float64 { return p.y }), number)
	c := &Chart{
		Name:    slug(recipe, cost.name),
		Title:   fmt.Sprintf("%s at rest against clients, %s", cost.title, recipe),
		Caption: cost.caption + " Points are counts, or lower bounds where a count is not determined; they must lie on the lines of the cost model.",
		panels:  []panel{p},
	}
	c.About = c.Title + ". " + strings.Join(about, "; ") + "."
	return c
}

// tally returns the measured and the expected cost of a form's rounds. It omits costs of 0, which have
// no place on the axis, and rows of older files, which do not record the number of rounds.
func tally(of subject, rows []results.Settled, name string, cost toll) (counted line, model []point) {
	look := of.looks[name]
	counted = line{name: name, look: look, marked: true}
	for _, row := range rows {
		if of.called(row.Form, row.Backend.URL) != name || row.Rounds == 0 {
			continue
		}
		least, expected, known := sums(cost.parts(row))
		n, rounds := float64(row.Clients), float64(row.Rounds)
		if least > 0 {
			counted.at = append(counted.at, point{x: n, y: float64(least) / rounds})
		}
		if known && expected > 0 {
			model = append(model, point{x: n, y: float64(expected) / rounds})
		}
	}
	slices.SortFunc(counted.at, byX)
	slices.SortFunc(model, byX)
	return counted, model
}

// sums returns the sum of the counts, or of their lower bounds where they are not determined, and the
// sum that the model expects, if it knows all of them.
func sums(parts []results.Exact) (least, expected int64, known bool) {
	known = true
	for _, e := range parts {
		switch {
		case e.Expected == nil:
			known = false
		default:
			expected += *e.Expected
		}
		if e.Most == nil {
			least += e.Counted
		} else {
			least += *e.Expected
		}
	}
	return least, expected, known
}
