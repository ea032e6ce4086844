package charts

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/units"
)

// timeline draws what happened around a trigger, in a panel for each form, with the same axes.
func timeline(s subject) *Chart {
	forms, clients := s.crowd()
	c := &Chart{Name: slug(s.name, "timeline"), Title: titled(fmt.Sprintf("Load around a trigger, %s clients", units.Count(int64(clients))), s)}
	var about []string
	var bin time.Duration
	for _, runs := range forms {
		r := runs[len(runs)-1]
		t := r.Herd.Timeline
		if t == nil || t.Triggers == 0 {
			continue
		}
		bin = t.BinNS
		name := s.key(r)
		look := look{ink: s.looks[name].ink}
		c.panels = append(c.panels, panel{
			heading: name, height: 118,
			rules: []rule{{}},
			lines: []line{
				{name: "notified", look: look, at: steps(t, t.Notifications), joined: true, filled: true, thin: true},
				{name: "reads", look: nth(2, muted), at: steps(t, t.Reads), joined: true, thin: true},
				bins(t, look, name),
			},
		})
		about = append(about, fmt.Sprintf("%s: at most %s notifications and %s reads in a bin, mean of %s triggers", name,
			units.Rate(slices.Max(t.Notifications)), units.Rate(slices.Max(t.Reads)), units.Count(t.Triggers)))
	}
	if len(c.panels) == 0 {
		return nil
	}
	onOneScale(c.panels, "per bin of "+clock(float64(bin)))
	c.Caption = "Zero is the first notification of a trigger. Means over all triggers; all forms on one scale."
	c.About = c.Title + ", in bins of " + clock(float64(bin)) + ". " + strings.Join(about, "; ") + "."
	return c
}

// steps returns the bins of a timeline as a line with steps.
func steps(t *results.Timeline, bins []float64) (all []point) {
	for i, v := range bins {
		from := float64(t.FromNS + time.Duration(i)*t.BinNS)
		all = append(all, point{x: from, y: v}, point{x: from + float64(t.BinNS), y: v})
	}
	return all
}

// bins returns an invisible line with the values of the bins in which clients were notified.
func bins(t *results.Timeline, look look, name string) line {
	values := line{look: look}
	for i, v := range t.Notifications {
		if v > 0 {
			from := float64(t.FromNS + time.Duration(i)*t.BinNS)
			values.at = append(values.at, point{x: from + float64(t.BinNS)/2, y: v,
				text: fmt.Sprintf("%s, from %s: %s notified, %s reads", name, clock(from), units.Rate(v), units.Rate(t.Reads[i]))})
		}
	}
	return values
}

// onOneScale gives all panels the same axes. Only the last panel has the label of the horizontal axis.
func onOneScale(panels []panel, each string) {
	var all []line
	for _, p := range panels {
		all = append(all, p.lines...)
	}
	x := linear("from the first notification of a trigger", valuesOf(all, func(p point) float64 { return p.x }), clock)
	xs := valuesOf(all, func(p point) float64 { return p.x })
	x.low, x.high = slices.Min(xs), slices.Max(xs)
	y := linear(each, valuesOf(all, func(p point) float64 { return p.y }), number)
	for i := range panels {
		panels[i].x, panels[i].y = x, y
		if i < len(panels)-1 {
			panels[i].x.label = ""
		} else {
			panels[i].height += 14
		}
	}
}
