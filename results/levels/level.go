package levels

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/stampede-bench/stampede/results"
)

// These are the names in a level's PerRound.
const (
	Notifications = "notifications"
	Operations    = "operations"
)

// costs returns the costs of a round that levels have.
func costs() map[string]func(*results.PerRound) float64 {
	return map[string]func(*results.PerRound) float64{
		Notifications: func(p *results.PerRound) float64 { return p.Notifications },
		Operations:    func(p *results.PerRound) float64 { return p.Reads + p.Writes },
	}
}

// A Percentile is one of the percentiles of a Distribution.
type Percentile struct {
	Name string
	of   func(*results.Distribution) *int64
}

// Percentiles returns the percentiles that levels are compared by, the highest first.
func Percentiles() []Percentile {
	return []Percentile{
		{"p99", results.P99},
		{"p90", func(d *results.Distribution) *int64 { return d.P90 }},
		{"p50", results.P50},
	}
}

// levelsOf groups the runs by form and level, sorted by level, with the forms of one level next to each
// other. A search lengthens runs that had too few observations, so that the runs of one level may have
// different durations.
func levelsOf(s results.Sweep) []results.Level {
	var all []results.Level
	for i, r := range s.Runs {
		at := slices.IndexFunc(all, func(l results.Level) bool {
			return l.Backend.URL == r.Backend.URL && s.Runs[l.Runs[0]].Key("duration") == r.Key("duration")
		})
		if at < 0 {
			at = len(all)
			all = append(all, levelOf(r))
		}
		all[at].Runs = append(all[at].Runs, i)
	}
	for i := range all {
		measure(&all[i], RunsOf(s, all[i]), s.Percentiles)
	}
	slices.SortFunc(all, func(a, b results.Level) int {
		return cmp.Or(cmp.Compare(a.Recipe, b.Recipe), cmp.Compare(a.Backend.URL, b.Backend.URL), cmp.Compare(a.Clients, b.Clients),
			cmp.Compare(a.Groups, b.Groups), cmp.Compare(a.HoldNS, b.HoldNS), cmp.Compare(a.SessionTimeout, b.SessionTimeout), cmp.Compare(a.Rate, b.Rate),
			cmp.Compare(a.Reads, b.Reads), cmp.Compare(a.Size, b.Size),
			-cmp.Compare(a.Family, b.Family), cmp.Compare(a.Form, b.Form))
	})
	return all
}

func levelOf(r results.Run) results.Level {
	l := results.Level{Recipe: r.Recipe, Form: r.Form, Family: r.Family, Backend: r.Backend, Clients: r.Clients, Groups: r.Groups, HoldNS: r.HoldNS}
	if r.Open != nil {
		l.Rate, _ = strconv.ParseFloat(r.Open.Rate, 64) // 0 for a ramp, which a sweep does not have
	}
	l.SessionTimeout, _ = time.ParseDuration(r.Settings["session-timeout"])
	if r.IsMix() {
		l.Reads, l.Size = r.ReadRatio.Asked, r.Mix.SizeBytes
	}
	return l
}

// RunsOf returns the runs of a level.
func RunsOf(s results.Sweep, l results.Level) []results.Run {
	runs := make([]results.Run, len(l.Runs))
	for i, place := range l.Runs {
		runs[i] = s.Runs[place]
	}
	return runs
}

// measure computes the medians, including those of the chosen percentiles.
func measure(l *results.Level, runs []results.Run, chosen []float64) {
	l.Throughput, _ = Across(runs, func(r results.Run) (float64, bool) { return r.ThroughputPerS, true })
	l.PerRound, l.Latency = map[string]results.Estimate{}, map[string]map[string]results.Estimate{}
	for name, of := range costs() {
		if e, ok := Across(runs, func(r results.Run) (float64, bool) { return PerRoundOf(r, of) }); ok {
			l.PerRound[name] = e
		}
	}
	for _, phase := range runs[0].Phases {
		l.Latency[phase] = map[string]results.Estimate{}
		for _, p := range Percentiles() {
			if e, ok := Across(runs, func(r results.Run) (float64, bool) { return percentileOf(r.Times(phase), p) }); ok {
				l.Latency[phase][p.Name] = e
			}
		}
		for _, p := range chosen {
			if e, ok := Across(runs, ValueAt(func(r results.Run) *results.Distribution { return r.Times(phase) }, p)); ok {
				l.Latency[phase][PercentileName(p)] = e
			}
		}
	}
}

func percentileOf(d *results.Distribution, p Percentile) (float64, bool) {
	if d == nil || p.of(d) == nil {
		return 0, false
	}
	return float64(*p.of(d)), true
}

// Value returns the level's value on an axis.
func Value(l results.Level, axis string) float64 {
	switch axis {
	case "rate":
		return l.Rate
	case "groups":
		return float64(l.Groups)
	case "hold":
		return float64(l.HoldNS)
	case "session-timeout":
		return float64(l.SessionTimeout)
	case "reads":
		return l.Reads
	case "size":
		return float64(l.Size)
	}
	return float64(l.Clients)
}

// Middle returns a run that represents a level: with medians over the repetitions, the largest
// fan-out of all, and the sums of the offered, late and skipped arrivals.
func Middle(s results.Sweep, l results.Level) results.Run {
	runs, chosen := RunsOf(s, l), append(judged(s), s.Percentiles...)
	r := runs[0]
	r.ThroughputPerS = l.Throughput.Value
	offered, _ := Across(runs, func(r results.Run) (float64, bool) { return r.OfferedPerS, true })
	r.OfferedPerS = offered.Value
	r.Cost.PerRound = middlePerRound(runs)
	r.Latency = map[string]results.Latency{}
	for _, phase := range r.Phases {
		r.Latency[phase] = results.Latency{
			Response: middleOf(runs, chosen, func(r results.Run) *results.Distribution { return r.Times(phase) }),
			Service:  middleOf(runs, chosen, func(r results.Run) *results.Distribution { return r.ServiceTimes(phase) }),
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
		FailedWrites:  of(func(p *results.PerRound) float64 { return p.FailedWrites }),
		RPCs:          of(func(p *results.PerRound) float64 { return p.RPCs }),
	}
}

// middleOf returns the medians of the mean, the longest time and the percentiles that all runs have: of those
// that levels are compared by, and of the chosen ones. It returns nil if a run has no time.
func middleOf(runs []results.Run, chosen []float64, of func(results.Run) *results.Distribution) *results.Distribution {
	mean, known := Across(runs, func(r results.Run) (float64, bool) { return meanTime(of(r)) })
	if !known {
		return nil
	}
	longest, _ := Across(runs, func(r results.Run) (float64, bool) { return float64(of(r).Max), true })
	d := results.Distribution{Mean: mean.Value, Max: int64(longest.Value), Others: map[float64]int64{}}
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
