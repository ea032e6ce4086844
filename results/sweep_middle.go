package results

import "slices"

// middle returns a run that represents a level: with medians over the repetitions, the largest
// fan-out of all, and the sums of the offered, late and skipped arrivals.
func (s Sweep) middle(l Level) Run {
	runs := s.at(l)
	r := runs[0]
	r.ThroughputPerS = l.Throughput.Value
	offered, _ := across(runs, func(r Run) (float64, bool) { return r.OfferedPerS, true })
	r.OfferedPerS = offered.Value
	r.Cost.PerRound = middlePerRound(runs)
	r.Latency = map[string]Latency{}
	for _, phase := range r.Phases {
		r.Latency[phase] = Latency{
			Response: middleOf(runs, s.Percentiles, func(r Run) *Distribution { return r.latency(phase) }),
			Service:  middleOf(runs, s.Percentiles, func(r Run) *Distribution { return r.service(phase) }),
		}
	}
	r.Herd.Fanout, r.Generator = nil, Generator{}
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

func middlePerRound(runs []Run) *PerRound {
	of := func(cost func(*PerRound) float64) float64 {
		e, _ := across(runs, func(r Run) (float64, bool) { return perRoundOf(r, cost) })
		return e.Value
	}
	for _, r := range runs {
		if r.Cost.PerRound == nil {
			return nil
		}
	}
	return &PerRound{
		Notifications: of(func(p *PerRound) float64 { return p.Notifications }),
		Reads:         of(func(p *PerRound) float64 { return p.Reads }),
		Writes:        of(func(p *PerRound) float64 { return p.Writes }),
		RPCs:          of(func(p *PerRound) float64 { return p.RPCs }),
	}
}

// middleOf returns the medians of the percentiles that all runs have: of those that levels are
// compared by, and of the chosen ones.
func middleOf(runs []Run, chosen []float64, of func(Run) *Distribution) *Distribution {
	d := Distribution{Others: map[float64]int64{}}
	into := map[float64]**int64{50: &d.P50, 90: &d.P90, 99: &d.P99, 99.9: &d.P999}
	for _, p := range slices.Concat([]float64{50, 90, 99}, chosen) {
		e, known := across(runs, valueAt(of, p))
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
