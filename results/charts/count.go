package charts

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stampede-bench/stampede/results"
)

// ofCount are the notifications of each recipe's settled runs against clients.
func ofCount(r results.CountReport) (all []Chart) {
	var recipes []string
	for _, s := range r.Settled {
		if !slices.Contains(recipes, s.Recipe) {
			recipes = append(recipes, s.Recipe)
		}
	}
	for _, recipe := range recipes {
		rows := slices.DeleteFunc(slices.Clone(r.Settled), func(s results.Settled) bool { return s.Recipe != recipe })
		all = append(all, some(counted(recipe, rows))...)
	}
	return all
}

func counted(recipe string, rows []results.Settled) *Chart {
	// The looks are as in any other chart of these forms.
	of := subject{name: recipe}
	for _, row := range rows {
		of.runs = append(of.runs, results.Run{Recipe: row.Recipe, Form: row.Form, Family: row.Family, Backend: row.Backend, Clients: row.Clients})
	}
	of.looks = looksOf(of.runs)
	p := panel{height: tall}
	var told []string
	for _, name := range of.series() {
		l, model, formula := tally(of, rows, name)
		if len(l.at) < 2 {
			continue
		}
		p.lines = append(p.lines, model, l)
		told = append(told, fmt.Sprintf("%s: %s%s with %s clients", name, number(l.at[len(l.at)-1].y), formula, number(l.at[len(l.at)-1].x)))
	}
	if len(p.lines) == 0 {
		return nil
	}
	p.x = exactly("clients", valuesOf(p.lines, func(p point) float64 { return p.x }), number)
	p.y = logarithmic("notifications", valuesOf(p.lines, func(p point) float64 { return p.y }), number)
	c := &Chart{
		Name:    slug(recipe, "notifications"),
		Title:   fmt.Sprintf("Notifications of a settled run against clients, %s", recipe),
		Caption: "Points were counted; grey lines are what the cost model says, where it determines it. They must meet.",
		panels:  []panel{p},
	}
	c.About = c.Title + ". " + strings.Join(told, "; ") + "."
	return c
}

// tally is what was counted of a form and what is expected of it. A count of 0 has
// no place on the axis.
func tally(of subject, rows []results.Settled, name string) (counted, model line, formula string) {
	look := of.looks[name]
	counted = line{look: look, marked: true}
	model = line{look: look.faint(), joined: true, thin: true}
	for _, row := range rows {
		if of.called(row.Form, row.Backend.URL) != name || row.Notifications.Counted == 0 {
			continue
		}
		n := float64(row.Clients)
		counted.at = append(counted.at, point{x: n, y: float64(row.Notifications.Counted)})
		if e := row.Notifications.Expected; e != nil && row.Notifications.Most == nil && *e > 0 {
			model.at = append(model.at, point{x: n, y: float64(*e)})
			formula = " = " + row.Notifications.Formula
		}
	}
	slices.SortFunc(counted.at, byX)
	slices.SortFunc(model.at, byX)
	counted.name = name + formula
	return counted, model, formula
}
