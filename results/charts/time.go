package charts

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/document"
	"github.com/stampede-bench/stampede/results/units"
)

// fewest is the minimum number of intervals of a line over time.
const fewest = 3

// overTime draws throughput and latency over time, at the largest number of clients.
func overTime(s subject) *Chart {
	forms, clients := s.crowd()
	rates, tails := panel{height: 130}, panel{height: 150}
	var about []string
	percentile, of := steadiest(forms)
	for _, runs := range forms {
		r := runs[len(runs)-1]
		name := s.key(r)
		l := line{name: name, look: s.looks[name], joined: true, marked: len(r.Intervals) <= 12}
		if l.at = rounds(r); len(l.at) < fewest {
			continue
		}
		rates.lines = append(rates.lines, l.saying(func(p point) string {
			return fmt.Sprintf("%s, %.3g s: %s rounds/s", name, p.x, units.Rate(p.y))
		}))
		about = append(about, fmt.Sprintf("%s: from %s to %s rounds a second", name, units.Rate(least(l.at)), units.Rate(most(l.at))))
		for _, piece := range pieces(l, waits(r, of)) {
			tails.lines = append(tails.lines, piece.saying(func(p point) string {
				return fmt.Sprintf("%s, %.3g s: %s %s", name, p.x, percentile, units.Duration(time.Duration(p.y)))
			}))
		}
	}
	if len(rates.lines) == 0 {
		return nil
	}
	what := "Throughput"
	marks, broken := breaks(forms[0][len(forms[0])-1])
	rates.rules, tails.rules = marks, unnamed(marks)
	rates.x = seconds(rates.lines)
	rates.y = linear("rounds/s", valuesOf(rates.lines, func(p point) float64 { return p.y }), number)
	c := &Chart{Name: slug(s.name, "time"), Caption: "A line that drifts or jumps was not steady, and its mean says little."}
	c.panels = []panel{rates}
	if len(tails.lines) > 0 {
		what = "Throughput and latency"
		c.panels[0].x.label = ""
		tails.x = rates.x
		tails.y = topped(document.Label(s.first())+" "+percentile, valuesOf(tails.lines, func(p point) float64 { return p.y }), clock)
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

// breaks returns a numbered mark for the time of each fault, and the meaning of the numbers.
func breaks(r results.Run) (marks []rule, meaning string) {
	if r.Faults == nil {
		return nil, ""
	}
	var all []string
	for i, b := range r.Faults.Done {
		x, name := b.AtNS.Seconds(), fmt.Sprint(i+1)
		if last := len(marks) - 1; last >= 0 && x-marks[last].x < r.DurationNS.Seconds()/100 {
			marks[last].name += ", " + name // there is no room for both
		} else {
			marks = append(marks, rule{x: x, name: name})
		}
		all = append(all, fmt.Sprintf("%d: %s", i+1, b.What))
	}
	return marks, "Faults: " + strings.Join(all, "; ")
}

func unnamed(marks []rule) (all []rule) {
	for _, m := range marks {
		all = append(all, rule{x: m.x})
	}
	return all
}

// rounds returns the rounds per second of each interval, at its middle.
func rounds(r results.Run) (all []point) {
	for i, v := range r.Intervals {
		if long := lasted(r, i); whole(r, i) {
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
			for i, v := range r.Intervals {
				if whole(r, i) && of(v) > 0 {
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
func waits(r results.Run, of func(results.Interval) time.Duration) (all [][]point) {
	before := -2
	for i, v := range r.Intervals {
		if of(v) == 0 || !whole(r, i) {
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

// whole reports whether an interval is long enough to show. The last one may be a short rest of the
// window.
func whole(r results.Run, i int) bool { return 2*lasted(r, i) > lasted(r, 0) }

func middle(r results.Run, i int) float64 {
	return (r.Intervals[i].T + lasted(r, i)/2).Seconds()
}

func seconds(lines []line) axis {
	return linear("seconds into the window", valuesOf(lines, func(p point) float64 { return p.x }), number)
}

func least(at []point) float64 {
	return slices.MinFunc(at, func(a, b point) int { return int(a.y - b.y) }).y
}

func most(at []point) float64 {
	return slices.MaxFunc(at, func(a, b point) int { return int(a.y - b.y) }).y
}

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
