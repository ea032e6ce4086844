package results

// middle is a run that stands for a level: medians over the repetitions, the
// largest fan-out of all, and the sums of what was offered, late and lost.
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
			Response: middleOf(runs, func(r Run) *Distribution { return r.latency(phase) }),
			Service:  middleOf(runs, func(r Run) *Distribution { return r.service(phase) }),
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

// middleOf has the percentiles that all runs have.
func middleOf(runs []Run, of func(Run) *Distribution) *Distribution {
	middle := func(p percentile) *int64 {
		e, ok := across(runs, func(r Run) (float64, bool) { return at(of(r), p) })
		if !ok {
			return nil
		}
		v := int64(e.Value)
		return &v
	}
	var d Distribution
	into := map[string]**int64{"p50": &d.P50, "p90": &d.P90, "p99": &d.P99}
	for _, p := range percentiles() {
		*into[p.name] = middle(p)
	}
	return &d
}
