package levels

import (
	"slices"

	"github.com/stampede-bench/stampede/results"
)

// Middle returns a run that represents a level: with medians over the repetitions, the largest
// fan-out of all, and the sums of the offered, late and skipped arrivals.
func Middle(s results.Sweep, l results.Level) results.Run {
	runs := RunsOf(s, l)
	r := runs[0]
	r.ThroughputPerS = l.Throughput.Value
	offered, _ := Across(runs, func(r results.Run) (float64, bool) { return r.OfferedPerS, true })
	r.OfferedPerS = offered.Value
	r.Cost.PerRound = middlePerRound(runs)
	r.Latency = map[string]results.Latency{}
	for _, phase := range r.Phases {
		r.Latency[phase] = results.Latency{
			Response: middleOf(runs, s.Percentiles, func(r results.Run) *results.Distribution { return r.Times(phase) }),
			Service:  middleOf(runs, s.Percentiles, func(r results.Run) *results.Distribution { return r.ServiceTimes(phase) }),
		}
	}
	r.Herd.Fanout, r.Generator = nil, results.Generator{}
	for _, one := range runs {
		r.Generator.Offered += one.Generator.Offered
		r.Generator.Late += one.Generator.Late
		r.Generator.Skipped += one.Generator.Skipped
		if f := one.Herd.Fanout; f != nil && (r.Herd.Fanout == nil || f.Max > r.Herd.Fanout.Max) {
			r.Herd.Fanout = f
		}
	}
	return r
}

func middlePerRound(runs []results.Run) *results.PerRound {
	of := func(cost func(*results.PerRound) float64) float64 {
		e, _ := Across(runs, func(r results.Run) (float64, bool) { return PerRoundOf(r, cost) })
		return e.Value
	}
	for _, r := range runs {
		if r.Cost.PerRound == nil {
			return nil
		}
	}
	return &results.PerRound{
		Notifications: of(func(p *results.PerRound) float64 { return p.Notifications }),
		Reads:         of(func(p *results.PerRound) float64 { return p.Reads }),
		Writes:        of(func(p *results.PerRound) float64 { return p.Writes }),
		RPCs:          of(func(p *results.PerRound) float64 { return p.RPCs }),
	}
}

// middleOf returns the medians of the percentiles that all runs have: of those that levels are
// compared by, and of the chosen ones.
func middleOf(runs []results.Run, chosen []float64, of func(results.Run) *results.Distribution) *results.Distribution {
	d := results.Distribution{Others: map[float64]int64{}}
	into := map[float64]**int64{50: &d.P50, 90: &d.P90, 99: &d.P99, 99.9: &d.P999}
	for _, p := range slices.Concat([]float64{50, 90, 99}, chosen) {
		e, known := Across(runs, ValueAt(of, p))
		v := int64(e.Value)
		if !known {
			continue
		}
		if field, ok := into[p]; ok {
			*field = &v
		} else {
			d.Others[p] = v
		}
	}
	return &d
}
