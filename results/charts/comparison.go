package charts

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"github.com/stampede-bench/stampede/results"
)

// ofComparison is by how much each figure differs: a dot for each pair, the
// interval of the estimate, and the minimum effect behind them.
func ofComparison(c results.Comparison) []Chart {
	changes := slices.DeleteFunc(slices.Clone(c.Changes), func(ch results.Change) bool { return ch.Effect == nil })
	if len(changes) == 0 {
		return nil
	}
	slices.Reverse(changes) // the first of them uppermost
	p := panel{y: axis{low: 0, high: float64(len(changes)), gridless: true}, rules: []rule{{}}}
	p.height = 46 + 30*vg.Length(len(changes))
	var told []string
	reach := []float64{0}
	for i, ch := range changes {
		y := float64(i) + 0.5
		p.y.ticks = append(p.y.ticks, plot.Tick{Value: y, Label: strings.TrimSpace(ch.Subject + " " + ch.Figure)})
		p.bands = append(p.bands, rectangle{-100 * ch.Minimum, 100 * ch.Minimum, y - 0.4, y + 0.4})
		p.lines = append(p.lines, changed(ch, y)...)
		for _, r := range ch.Ratios {
			reach = append(reach, 100*(r-1))
		}
		reach = append(reach, 100*ch.Effect.Low, 100*ch.Effect.High, 100*ch.Minimum, -100*ch.Minimum)
		told = append(told, fmt.Sprintf("%s %s [%s, %s]: %s", ch.Figure, signed(ch.Effect.Value), signed(ch.Effect.Low), signed(ch.Effect.High), ch.Verdict))
	}
	slices.Reverse(told)
	p.x = linear(fmt.Sprintf("change from %s to %s", c.Base.Label, c.New.Label), reach, func(v float64) string { return signed(v / 100) })
	title := "Change of each figure, with its interval"
	caption := "The long mark is the estimate, the bar its interval, grey the minimum effect: what stays within it does not matter."
	if c.Paired {
		title += " and each pair's"
		caption += " Each dot is a pair."
	}
	chart := Chart{Name: "changes", Title: title, Caption: caption, panels: []panel{p}}
	chart.About = title + ". " + strings.Join(told, "; ") + "."
	return []Chart{chart}
}

// changed are the dots of a figure's pairs and, below them, its interval.
func changed(ch results.Change, y float64) []line {
	of := recipe
	switch ch.Verdict {
	case results.Regression, results.Failed, results.Violated:
		of = naive
	case results.Inconclusive, results.Invalid:
		of = load
	}
	dots := line{look: look{ink: muted, shape: shapes()[3]}, marked: true}
	for _, r := range ch.Ratios {
		dots.at = append(dots.at, point{x: 100 * (r - 1), y: y + 0.18})
	}
	value, at := 100*ch.Effect.Value, y-0.18
	return []line{
		dots,
		{look: look{ink: of}, at: []point{{x: value, y: at - 0.14}, {x: value, y: at + 0.14}}, joined: true},
		{look: look{ink: of}, at: []point{{x: 100 * ch.Effect.Low, y: at}, {x: 100 * ch.Effect.High, y: at}}, joined: true,
			name: signed(ch.Effect.Value) + " " + string(ch.Verdict)},
	}
}

// signed writes a share as a change: "+4.1 %", "−12 %".
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
