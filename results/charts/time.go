package charts

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/levels"
	"github.com/stampede-bench/stampede/results/units"
)

// fewest is the minimum number of intervals of a line over time.
const fewest = 3

// overTime draws throughput and latency over time, at the largest number of clients.
func overTime(s subject) *Chart {
	forms, clients := s.crowd()
	rates, tails := panel{height: 130}, panel{height: 150}
	var shown []results.Run
	for _, runs := range forms {
		shown = append(shown, runs[len(runs)-1])
	}
	from, to := faultSpan(shown)
	var about []string
	percentile, of := steadiest(forms)
	for _, r := range shown {
		name := s.key(r)
		l := line{name: name, look: s.looks[name], joined: true, marked: len(r.Intervals) <= 12}
		if l.at = pointsBetween(from, to, rounds(r)); len(l.at) < fewest {
			continue
		}
		rates.lines = append(rates.lines, l.saying(func(p point) string {
			return fmt.Sprintf("%s, %.3g s: %s %s/s", name, p.x, units.Rate(p.y), done(s))
		}))
		about = append(about, fmt.Sprintf("%s: from %s to %s %s a second", name, units.Rate(least(l.at)), units.Rate(most(l.at)), done(s)))
		for _, piece := range pieces(l, waits(r, of, from, to)) {
			tails.lines = append(tails.lines, piece.saying(func(p point) string {
				return fmt.Sprintf("%s, %.3g s: %s %s", name, p.x, percentile, units.Duration(time.Duration(p.y)))
			}))
		}
	}
	if len(rates.lines) == 0 {
		return nil
	}
	what := "Throughput"
	marks, broken := breaks(shown, s.key)
	rates.rules, tails.rules = marks, unnamed(marks)
	rates.x = seconds(from, to)
	rates.y = linear(done(s)+"/s", valuesOf(rates.lines, func(p point) float64 { return p.y }), number)
	c := &Chart{Name: slug(s.name, "time"), Caption: "A line that drifts or jumps was not steady, and its mean says little."}
	c.panels = []panel{rates}
	if len(tails.lines) > 0 {
		what = "Throughput and latency"
		c.panels[0].x.label = ""
		tails.x = rates.x
		tails.y = topped(levels.PhaseName(s.first())+" "+percentile, valuesOf(tails.lines, func(p point) float64 { return p.y }), clock)
		c.panels = append(c.panels, tails)
	}
	if broken != "" {
		c.Caption = broken
		about = append(about, broken)
	}
	c.Title = titled(fmt.Sprintf("%s over time, %s clients", what, units.Count(int64(clients))), s)
	c.About = c.Title + ". " + strings.Join(about, "; ") + "."
	return c
}

func unnamed(marks []rule) (all []rule) {
	for _, m := range marks {
		all = append(all, rule{x: m.x})
	}
	return all
}

// rounds returns the rounds per second of each interval, at its middle.
func rounds(r results.Run) (all []point) {
	whole := wholeOf(r)
	for i, v := range r.Intervals {
		if long := lasted(r, i); whole(i) {
			all = append(all, point{x: middle(r, i), y: float64(v.Rounds) / long.Seconds()})
		}
	}
	return all
}

// steadiest returns the highest percentile that is known in at least nine tenths of the intervals that
// have a median.
func steadiest(forms [][]results.Run) (name string, of func(results.Interval) time.Duration) {
	known := func(of func(results.Interval) time.Duration) (n int) {
		for _, runs := range forms {
			r := runs[len(runs)-1]
			whole := wholeOf(r)
			for i, v := range r.Intervals {
				if whole(i) && of(v) > 0 {
					n++
				}
			}
		}
		return n
	}
	median := func(v results.Interval) time.Duration { return v.P50 }
	for _, p := range []struct {
		name string
		of   func(results.Interval) time.Duration
	}{
		{"p99", func(v results.Interval) time.Duration { return v.P99 }},
		{"p90", func(v results.Interval) time.Duration { return v.P90 }},
	} {
		if n := known(p.of); n > 0 && 10*n >= 9*known(median) {
			return p.name, p.of
		}
	}
	return "p50", median
}

// waits returns a percentile by interval, in several parts if it is not known in between, so that no line
// crosses a gap.
func waits(r results.Run, of func(results.Interval) time.Duration, from, to float64) (all [][]point) {
	before, whole := -2, wholeOf(r)
	for i, v := range r.Intervals {
		if x := middle(r, i); of(v) == 0 || !whole(i) || x < from || x > to {
			continue
		}
		if before != i-1 {
			all = append(all, nil)
		}
		before = i
		last := len(all) - 1
		all[last] = append(all[last], point{x: middle(r, i), y: float64(of(v))})
	}
	return all
}

// pieces returns the parts of a line with gaps. The last part has the line's name, and a part with a single
// point is marked.
func pieces(whole line, at [][]point) (all []line) {
	for i, some := range at {
		l := whole
		l.at, l.marked = some, whole.marked || len(some) == 1
		if i < len(at)-1 {
			l.name = ""
		}
		all = append(all, l)
	}
	return all
}

// lasted returns the length of an interval: until the next interval, or the end of the window.
func lasted(r results.Run, i int) time.Duration {
	if i+1 < len(r.Intervals) {
		return r.Intervals[i+1].T - r.Intervals[i].T
	}
	return r.DurationNS - r.Intervals[i].T
}

// wholeOf returns whether an interval is long enough to show. The last one may be a short rest of the
// window, and one whose end a busy machine missed is longer than the others.
func wholeOf(r results.Run) func(i int) bool {
	all := make([]time.Duration, len(r.Intervals))
	for i := range all {
		all[i] = lasted(r, i)
	}
	slices.Sort(all)
	return func(i int) bool { return 2*lasted(r, i) > all[len(all)/2] }
}

func middle(r results.Run, i int) float64 {
	return (r.Intervals[i].T + lasted(r, i)/2).Seconds()
}

// pointsBetween returns the points of a part of the window.
func pointsBetween(from, to float64, at []point) []point {
	return slices.DeleteFunc(at, func(p point) bool { return p.x < from || p.x > to })
}

// seconds returns the axis of a part of the window.
func seconds(from, to float64) axis {
	a := axis{label: "seconds into the window", low: from, high: to}
	step := niceStep((to - from) / 6)
	for i := math.Ceil(from/step - 1e-9); i*step <= to+1e-9; i++ {
		a.ticks = append(a.ticks, tick{value: i * step, label: number(i * step)})
	}
	return a
}

func least(at []point) float64 {
	return slices.MinFunc(at, func(a, b point) int { return int(a.y - b.y) }).y
}

func most(at []point) float64 {
	return slices.MaxFunc(at, func(a, b point) int { return int(a.y - b.y) }).y
}

// timeline draws the load around a trigger, in a panel for each form, with the same axes.
func timeline(s subject) *Chart {
	forms, clients := s.crowd()
	event := levels.Event(s.runs[0].Recipe)
	if event == "round" { // of which each may have several
		event = "trigger"
	}
	c := &Chart{Name: slug(s.name, "timeline"), Wide: true,
		Title: titled(fmt.Sprintf("What one %s causes, %s", event, units.Clients(clients)), s)}
	var about []string
	var bin time.Duration
	high := 160.0
	if len(forms) > 3 {
		high = 100
	}
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
			heading: name, height: high,
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
	c.Caption = "At 0 the first client is notified; in a herd all others are notified at once, and read. Means over all triggers; all forms on one scale."
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
