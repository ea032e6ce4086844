package levels

import (
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/stats"
)

// referenceFor returns the series that a naive one is compared with: that of the first recipe form, or
// otherwise library form, with the same recipe, backend and level of the second axis.
func referenceFor(all [][]results.Level, naive []results.Level, beside func(results.Level) string) []results.Level {
	for _, family := range []string{"recipe", "library"} {
		for _, levels := range all {
			a, b := levels[0], naive[0]
			if a.Family == family && a.Recipe == b.Recipe && a.Backend.SameService(b.Backend) && beside(a) == beside(b) {
				return levels
			}
		}
	}
	return nil
}

func crossover(s results.Sweep, naive, calm []results.Level) results.Crossover {
	first := naive[0]
	c := results.Crossover{Recipe: first.Recipe, Form: first.Form, Than: calm[0].Form, URL: first.Backend.URL, Beside: OtherAxes(s, first), Ratios: []results.Ratio{}}
	var ratios []stats.Point
	c.Metric, ratios = ratiosOf(s, naive, calm)
	for _, p := range ratios {
		c.Ratios = append(c.Ratios, results.Ratio{N: p.N, Times: p.Value})
	}
	if found, ok := stats.Cross(ratios, s.WorseBy); ok {
		c.At, c.Always = &found.At, found.Always
	}
	return c
}

const throughput = "throughput"

// ratiosOf returns how many times worse the naive form is, at each level at which both forms were
// measured. It compares the highest percentile that all these levels have, of the hand-off or, in an
// open loop, of the first phase. If there is no such percentile, it compares the throughput.
func ratiosOf(s results.Sweep, naive, calm []results.Level) (metric string, all []stats.Point) {
	phase := tail(s, naive[0])
	for _, p := range Percentiles() {
		worse := func(naive, calm results.Level) (float64, bool) {
			a, has := naive.Latency[phase][p.Name]
			b, had := calm.Latency[phase][p.Name]
			return a.Value / b.Value, has && had && b.Value > 0
		}
		if all, ok := pairs(s, naive, calm, worse); ok {
			return phase + "." + p.Name, all
		}
	}
	all, _ = pairs(s, naive, calm, func(naive, calm results.Level) (float64, bool) {
		return calm.Throughput.Value / naive.Throughput.Value, naive.Throughput.Value > 0 && calm.Throughput.Value > 0
	})
	return throughput, all
}

// tail returns the phase that forms are compared by.
func tail(s results.Sweep, l results.Level) string {
	r := s.Runs[l.Runs[0]]
	if r.IsOpen() {
		return results.FirstPhase(r)
	}
	return results.KeyPhase(r.Phases)
}

// pairs compares the levels that both series have. It returns false if one of them lacks a value, or
// there are none.
func pairs(s results.Sweep, naive, calm []results.Level, worse func(naive, calm results.Level) (float64, bool)) (all []stats.Point, ok bool) {
	for _, a := range naive {
		for _, b := range calm {
			at := Value(a, s.Axes[0])
			if at != Value(b, s.Axes[0]) || at == 0 { // 0 has no place on a logarithmic scale
				continue
			}
			times, known := worse(a, b)
			if !known {
				return nil, false
			}
			all = append(all, stats.Point{N: at, Value: times})
		}
	}
	return all, len(all) > 0
}
