package live

import (
	"slices"
	"time"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/document"
	"github.com/stampede-bench/stampede/results/units"
)

// A row is one figure of all panels.
type row struct {
	Name   string   `json:"name"`
	Values []string `json:"values"`
}

// absent is shown for an unknown value.
const absent = "n/a"

// rows returns the figures of the panels, side by side.
func rows(panels []*panel) (all []row) {
	add := func(name string, of func(results.Run) string) {
		r := row{Name: name}
		for _, p := range panels {
			value := absent
			if p.figures.Rounds > 0 {
				value = of(p.figures)
			}
			r.Values = append(r.Values, value)
		}
		all = append(all, r)
	}
	perSecond := func(of func(results.Run) int64) func(results.Run) string {
		return func(r results.Run) string { return units.Rate(float64(of(r)) / r.DurationNS.Seconds()) }
	}
	add("rounds/s", func(r results.Run) string { return units.Rate(r.ThroughputPerS) })
	add("notifications/s", perSecond(func(r results.Run) int64 { return r.Cost.Notifications }))
	add("operations/s", perSecond(func(r results.Run) int64 { return r.Cost.Reads + r.Cost.Writes }))
	add("notifications a round", func(r results.Run) string { return units.Rate(r.Cost.PerRound.Notifications) })
	add("wasted wake-ups", func(r results.Run) string {
		if r.Herd.Useful+r.Herd.Wasted == 0 {
			return absent
		}
		return units.Value(float64(r.Herd.Wasted)/float64(r.Herd.Useful+r.Herd.Wasted), "share")
	})
	for _, phase := range phases(panels) {
		for _, p := range []struct {
			name string
			of   func(*results.Distribution) *int64
		}{
			{"p50", func(d *results.Distribution) *int64 { return d.P50 }},
			{"p90", func(d *results.Distribution) *int64 { return d.P90 }},
			{"p99", func(d *results.Distribution) *int64 { return d.P99 }},
		} {
			add(document.Label(phase)+" "+p.name, func(r results.Run) string { return latency(r.Times(phase), p.of) })
		}
	}
	add("errors", func(r results.Run) string {
		n := int64(0)
		for _, times := range r.Errors {
			n += times
		}
		return units.Count(n)
	})
	return all
}

func latency(d *results.Distribution, of func(*results.Distribution) *int64) string {
	if d == nil || of(d) == nil {
		return absent
	}
	return units.Duration(time.Duration(*of(d)))
}

// phases returns the phases of all panels, in the recipe's order.
func phases(panels []*panel) (names []string) {
	for _, of := range panels {
		for _, phase := range of.figures.Phases {
			if !slices.Contains(names, phase) {
				names = append(names, phase)
			}
		}
	}
	return names
}
