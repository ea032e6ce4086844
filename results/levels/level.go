package levels

import (
	"cmp"
	"slices"
	"strconv"

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
		at := slices.IndexFunc(all, func(l results.Level) bool { return s.Runs[l.Runs[0]].Key("duration") == r.Key("duration") })
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
			cmp.Compare(a.Groups, b.Groups), cmp.Compare(a.HoldNS, b.HoldNS), cmp.Compare(a.Rate, b.Rate),
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
	case "reads":
		return l.Reads
	case "size":
		return float64(l.Size)
	}
	return float64(l.Clients)
}
