package results

import (
	"github.com/stampede-bench/stampede/fit"
)

// calmBeside returns the series that a naive one is compared with: that of the first recipe form, or
// otherwise library form, with the same recipe, backend and level of the second axis.
func calmBeside(all [][]Level, naive []Level, beside func(Level) string) []Level {
	for _, family := range []string{"recipe", "library"} {
		for _, levels := range all {
			a, b := levels[0], naive[0]
			if a.Family == family && a.Recipe == b.Recipe && a.Backend == b.Backend && beside(a) == beside(b) {
				return levels
			}
		}
	}
	return nil
}

func (s Sweep) crossover(naive, calm []Level) Crossover {
	first := naive[0]
	c := Crossover{Recipe: first.Recipe, Form: first.Form, Than: calm[0].Form, URL: first.Backend.URL, Beside: s.beside(first), Ratios: []Ratio{}}
	var ratios []fit.Point
	c.Metric, ratios = s.ratios(naive, calm)
	for _, p := range ratios {
		c.Ratios = append(c.Ratios, Ratio{p.N, p.Value})
	}
	if found, ok := fit.Cross(ratios, s.WorseBy); ok {
		c.At, c.Always = &found.At, found.Always
	}
	return c
}

const throughput = "throughput"

// ratios returns how many times worse the naive form is, at each level at which both forms were
// measured. It compares the highest percentile that all these levels have, of the hand-off or, in an
// open loop, of the first phase. If there is no such percentile, it compares the throughput.
func (s Sweep) ratios(naive, calm []Level) (metric string, all []fit.Point) {
	phase := s.tail(naive[0])
	for _, p := range percentiles() {
		worse := func(naive, calm Level) (float64, bool) {
			a, has := naive.Latency[phase][p.name]
			b, had := calm.Latency[phase][p.name]
			return a.Value / b.Value, has && had && b.Value > 0
		}
		if all, ok := s.pairs(naive, calm, worse); ok {
			return phase + "." + p.name, all
		}
	}
	all, _ = s.pairs(naive, calm, func(naive, calm Level) (float64, bool) {
		return calm.Throughput.Value / naive.Throughput.Value, naive.Throughput.Value > 0 && calm.Throughput.Value > 0
	})
	return throughput, all
}

// tail returns the phase that forms are compared by.
func (s Sweep) tail(l Level) string {
	r := s.Runs[l.Runs[0]]
	if r.open() {
		return firstPhase(r)
	}
	return tailPhase(r)
}

// pairs compares the levels that both series have. It returns false if one of them lacks a value, or
// there are none.
func (s Sweep) pairs(naive, calm []Level, worse func(naive, calm Level) (float64, bool)) (all []fit.Point, ok bool) {
	for _, a := range naive {
		for _, b := range calm {
			at := a.On(s.Axes[0])
			if at != b.On(s.Axes[0]) || at == 0 { // 0 has no place on a logarithmic scale
				continue
			}
			times, known := worse(a, b)
			if !known {
				return nil, false
			}
			all = append(all, fit.Point{N: at, Value: times})
		}
	}
	return all, len(all) > 0
}
