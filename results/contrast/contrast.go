// Package contrast sets a naive form beside another one, at each number of clients, by the three
// figures that show what a herd costs: the clients that an event wakes, the latency, and the throughput.
package contrast

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/figure"
	"github.com/stampede-bench/stampede/results/levels"
	"github.com/stampede-bench/stampede/results/stats"
	"github.com/stampede-bench/stampede/results/units"
)

// A Level is the contrast at one number of clients.
type Level struct {
	Crowd   string // "128 clients"
	Figures []Figure
}

// A Figure is a figure of both forms.
type Figure struct {
	Title       string // "hand-off p90"
	Naive, Calm Side
	Ratio       string // the naive form's value in terms of the other's: "13 times as long", "−71 %"; "" if it is not known
}

// A Side is the value of one form.
type Side struct {
	Form, Family string
	Kind         string // see [levels.KindOf]
	Value        string
	Share        float64 // of the larger of the two values
}

// Levels returns the contrast of the runs of one recipe on one service at each number of clients that both forms
// were measured with, in ascending order: what the finding compares is the last. There is none for a mix, a
// fan-out, an open loop, with faults, nor if safety was violated, which voids the numbers.
func Levels(runs []results.Run, shown levels.Shown) (all []Level) {
	if slices.ContainsFunc(runs, incomparable) {
		return nil
	}
	measured := slices.DeleteFunc(slices.Clone(runs), func(r results.Run) bool { return r.Cost.PerRound == nil })
	medians := levels.Medians(measured)
	slices.SortStableFunc(medians, func(a, b results.Run) int { return cmp.Compare(a.Clients, b.Clients) })
	for len(medians) > 0 {
		others := slices.IndexFunc(medians, func(r results.Run) bool { return r.Clients != medians[0].Clients })
		if others < 0 {
			others = len(medians)
		}
		if naive, calm, ok := levels.Counterparts(medians[:others]); ok {
			p := pair{naive, calm, measured}
			all = append(all, Level{Crowd: levels.Crowd(naive), Figures: p.figures(shown)})
		}
		medians = medians[others:]
	}
	return all
}

func incomparable(r results.Run) bool {
	return r.IsLoad() || r.Fanout != nil || r.IsOpen() || r.Faults != nil || r.Safety.Violations > 0
}

// A pair is two forms with the same number of clients, and all runs.
type pair struct {
	naive, calm results.Run
	runs        []results.Run
}

// figures returns the figures of both forms, the recipe's herd first. A round of reconnect lasts as long as its outage,
// so that the attempts of a client say more than the throughput.
func (p pair) figures(shown levels.Shown) []Figure {
	title, value := levels.HerdOf(p.naive).Title(p.naive)
	herd := p.figure(title, "times as many", units.Rate, value, levels.HerdOf(p.naive).Figure)
	if p.naive.Reconnects == nil {
		return []Figure{herd, p.latency(shown), p.throughput()}
	}
	each := figure.Known(nil, "attempts.per_client")[0]
	return []Figure{herd, p.figure("attempts per client", "times as many", units.Rate, each.RunValue, each), p.latency(shown)}
}

// latency compares the latency by which the finding does.
func (p pair) latency(shown levels.Shown) Figure {
	phase := results.KeyPhase(p.naive.Phases)
	times := func(r results.Run) *results.Distribution { return r.Times(phase) }
	percentile, name := shown.Highest(p.runs, times, p.naive, p.calm)
	value := levels.ValueAt(times, percentile)
	if name == "" {
		value = func(results.Run) (float64, bool) { return 0, false }
	}
	return p.figure(strings.TrimSpace(levels.PhaseName(phase)+" "+name), "times as long",
		func(ns float64) string { return units.Duration(time.Duration(ns)) }, value, levels.TimeOf(p.naive, phase, name))
}

func (p pair) throughput() Figure {
	event := levels.Event(p.naive.Recipe)
	if strings.Contains(event, " ") { // it has no short plural
		event = "round"
	}
	return p.figure(event+"s/s", "times as many", units.Rate, func(r results.Run) (float64, bool) { return r.ThroughputPerS, r.ThroughputPerS > 0 }, levels.Speed())
}

// figure returns the medians over the repetitions of both forms, and their ratio as far as the doubts about the figure leave it.
func (p pair) figure(title, times string, write func(float64) string, value func(results.Run) (float64, bool), of figure.Figure) Figure {
	naive, calm := levels.RepetitionsOf(p.naive, p.runs), levels.RepetitionsOf(p.calm, p.runs)
	many, known := levels.Across(naive, value)
	few, too := levels.Across(calm, value)
	most := max(many.Value, few.Value)
	side := func(r results.Run, e results.Estimate, known bool) Side {
		s := Side{Form: r.Form, Family: r.Family, Kind: levels.KindOf(r, p.runs), Value: units.Absent}
		if known {
			s.Value = write(e.Value)
			s.Share = e.Value / max(most, math.SmallestNonzeroFloat64)
		}
		return s
	}
	f := Figure{Title: title, Naive: side(p.naive, many, known), Calm: side(p.calm, few, too)}
	if known && too && many.Value > 0 && few.Value > 0 {
		f.Ratio = ratio(levels.RatioWithin(levels.RatioOf(naive, calm, value), of, naive, calm), of.Better, times)
	}
	return f
}

// ratio puts a ratio in words: a multiple from twice on, and a change in percent below. Doubts leave a bound of it, if it is
// worse for certain.
func ratio(r levels.Ratio, better figure.Direction, times string) string {
	value, bound, end := r.Value, "", ""
	switch {
	case r.Confidence >= stats.Confidence && r.Low <= 1 && 1 <= r.High:
		return string(results.Inconclusive)
	case r.Doubt == "":
	case better == figure.Less && r.Least >= 1.05:
		value, bound = r.Least, "at least "
	case better == figure.More && r.Most <= 0.95:
		value, end = r.Most, " or less"
	case better == figure.Less && r.Most > 1 || better == figure.More && r.Least < 1:
		return string(results.Inconclusive)
	}
	if value >= 1.95 {
		return bound + units.Short(value) + " " + times
	}
	change := math.Round(100 * (value - 1))
	if change == 0 {
		return "0 %"
	}
	return bound + strings.Replace(fmt.Sprintf("%+.0f %%", change), "-", "−", 1) + end
}
