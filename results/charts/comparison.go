package charts

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/units"
)

// These are the heights of the parts of a row in the chart.
const (
	wordsHigh float64 = 17 // a line of text
	marksHigh float64 = 26 // the dots of the pairs, and the interval below them
)

// ofComparison draws the ratio of each figure: a dot for each pair, the interval of the estimate, and
// the minimum effect in the background. The text of a figure is above its marks, so that the width of
// the marks does not depend on the text.
func ofComparison(c results.Comparison) []Chart {
	if !slices.ContainsFunc(c.Changes, func(ch results.Change) bool { return ch.Effect != nil }) {
		return nil
	}
	ratios := reach(c.Changes)
	p := panel{x: ratioAxis(ratios)}
	var about []string
	subject := ""
	rows := slices.Clone(c.Changes)
	slices.Reverse(rows) // so that the first is at the top
	at := 0.0
	for i, ch := range rows {
		p.changed(ch, at, ratios)
		at += marksHigh + wordsHigh
		p.notes = append(p.notes, note{y: at, left: ch.Figure, right: outcome(ch), ink: inkOf(ch.Verdict)})
		if subject = ch.Subject; subject != "" && (i+1 == len(rows) || rows[i+1].Subject != subject) {
			at += wordsHigh
			p.notes = append(p.notes, note{y: at, left: subject, ink: text})
		}
		about = append(about, ch.Figure+" "+outcome(ch))
	}
	p.rows(at)
	slices.Reverse(about)
	title := "Change of each figure, with its interval"
	caption := fmt.Sprintf("From %s to %s. The long mark is the estimate, the bar its 95 %% interval; grey is the minimum effect: a change within it is too small to matter.",
		c.Base.Label, c.New.Label)
	if c.Paired {
		title += " and each pair's"
		caption += " Each dot is a pair."
	}
	chart := Chart{Name: "changes", Title: title, Caption: caption, panels: []panel{p}}
	chart.About = title + ". " + strings.Join(about, "; ") + "."
	return []Chart{chart}
}

// reach returns the smallest and the largest ratio that the chart shows.
func reach(changes []results.Change) []float64 {
	all := []float64{1}
	for _, ch := range changes {
		shown := slices.Clone(ch.Ratios)
		if e := ch.Effect; e != nil {
			shown = append(shown, 1+e.Low, 1+e.Value, 1+e.High)
		}
		shown = append(shown, 1-ch.Minimum, 1+ch.Minimum)
		for _, r := range shown {
			if r > 0 && !math.IsInf(r, 1) { // 0 and infinity have no place on a logarithmic axis
				all = append(all, r)
			}
		}
	}
	return []float64{slices.Min(all), slices.Max(all)}
}

// changed draws the minimum effect of a figure, the dots of its pairs and, below them, its interval,
// from the height from upwards. A value outside the reach is drawn at the end of it.
func (p *panel) changed(ch results.Change, from float64, reach []float64) {
	within := func(ratio float64) float64 { return min(max(ratio, reach[0]), reach[1]) }
	p.bands = append(p.bands, rectangle{within(1 - ch.Minimum), within(1 + ch.Minimum), from + 1, from + marksHigh})
	p.lines = append(p.lines, line{look: look{ink: muted, dash: []float64{3, 2}}, joined: true, thin: true,
		at: []point{{x: 1, y: from + 1}, {x: 1, y: from + marksHigh}}})
	dots := line{look: look{ink: muted, shape: ring}, marked: true}
	for _, r := range ch.Ratios {
		dots.at = append(dots.at, point{x: within(r), y: from + 18})
	}
	p.lines = append(p.lines, dots)
	if ch.Effect == nil {
		return
	}
	of, y, value := look{ink: inkOf(ch.Verdict)}, from+8, within(1+ch.Effect.Value)
	p.lines = append(p.lines,
		line{look: of, at: []point{{x: value, y: y - 5}, {x: value, y: y + 5}}, joined: true},
		line{look: of, at: []point{{x: within(1 + ch.Effect.Low), y: y}, {x: within(1 + ch.Effect.High), y: y}}, joined: true})
}

func inkOf(v results.Verdict) ink {
	switch v {
	case results.Regression, results.Fail:
		return naive
	case results.Inconclusive, results.Invalid:
		return load
	}
	return recipe
}

// outcome formats the estimate with its interval and the verdict: "+6 % [−3 %, +15 %] inconclusive",
// "×300 [×250, ×360] improvement". Without an estimate it is n/a.
func outcome(ch results.Change) string {
	estimate := "n/a"
	if e := ch.Effect; e != nil {
		write := signed
		if e.Value < -0.5 || e.Value > 1 {
			write = multiple
		}
		estimate = fmt.Sprintf("%s [%s, %s]", write(e.Value), write(e.Low), write(e.High))
	}
	return strings.TrimSpace(estimate + " " + string(ch.Verdict))
}

// multiple formats a change as a ratio: "×300", "÷2.50".
func multiple(share float64) string {
	switch ratio := 1 + share; {
	case ratio <= 0:
		return "0"
	case ratio < 1:
		return "÷" + units.Rate(1/ratio)
	default:
		return "×" + units.Rate(ratio)
	}
}

// ratioAxis returns a logarithmic axis of ratios. Its labels are changes in percent if the range is
// small, and multiples otherwise.
func ratioAxis(reach []float64) axis {
	a := axis{label: "change, as a ratio on a logarithmic scale", log: true, low: reach[0], high: reach[1]}
	if a.high < 1.02*a.low { // leave some room if all ratios are equal
		a.low, a.high = a.low/1.01, a.high*1.01
	}
	low, high := a.low, a.high // labels of ticks outside would be cut off
	room := math.Pow(a.high/a.low, 0.06)
	a.low, a.high = a.low/room, a.high*room
	if high/low < 4 {
		step := niceStep((high - low) / 5)
		for i := math.Ceil((low - 1) / step); 1+i*step <= high; i++ {
			a.ticks = append(a.ticks, tick{value: 1 + i*step, label: signed(i * step)})
		}
		return a
	}
	for _, marks := range [][]float64{{1, 1.5, 2, 3, 5, 7}, {1, 2, 5}, {1, 3}} {
		if a.ticks = multiples(low, high, 10, marks); len(a.ticks) <= 7 {
			return a
		}
	}
	for base := 10.0; len(a.ticks) > 7; base *= 10 {
		a.ticks = multiples(low, high, base, []float64{1})
	}
	return a
}

// multiples returns ticks at the marks times the powers of a base, and at their reciprocals.
func multiples(low, high, base float64, marks []float64) (ticks []tick) {
	for power := 1.0; power <= max(high, 1/low); power *= base {
		for _, m := range marks {
			if v := m * power; v >= low && v <= high {
				ticks = append(ticks, tick{value: v, label: "×" + number(v)})
			}
			if v := m * power; v > 1 && 1/v >= low && 1/v <= high {
				ticks = append(ticks, tick{value: 1 / v, label: "÷" + number(v)})
			}
		}
	}
	slices.SortFunc(ticks, func(a, b tick) int { return cmp.Compare(a.value, b.value) })
	return ticks
}

// signed formats a share as a change: "+4.1 %", "−12 %".
func signed(share float64) string {
	decimals := 1
	if math.Abs(share) >= 0.0995 || math.Abs(100*share-math.Round(100*share)) < 1e-9 {
		decimals = 0
	}
	text := fmt.Sprintf("%+.*f %%", decimals, 100*share)
	if share == 0 {
		text = "0 %"
	}
	return strings.Replace(text, "-", "−", 1)
}
