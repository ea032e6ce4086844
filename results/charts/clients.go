package charts

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/levels"
	"github.com/stampede-bench/stampede/results/units"
)

// throughputByClients draws the rounds per second of runs against the number of clients. It needs two
// levels.
func throughputByClients(s subject) *Chart {
	c := byClients(s, "throughput", "Throughput against clients", done(s)+"/s", linear, number,
		func(r results.Run) (float64, bool) { return r.ThroughputPerS, r.ThroughputPerS > 0 },
		func(v float64) string { return units.Rate(v) + " " + done(s) + "/s" })
	if c != nil {
		c.Caption = "Higher is faster." + c.Caption
	}
	return c
}

// latencyByClients draws the highest percentile of the key phase that all runs have against the
// number of clients.
func latencyByClients(s subject) *Chart {
	phase := s.keyPhase()
	for _, p := range []struct {
		name string
		of   func(*results.Distribution) *int64
	}{
		{"p99", func(d *results.Distribution) *int64 { return d.P99 }},
		{"p90", func(d *results.Distribution) *int64 { return d.P90 }},
		{"p50", func(d *results.Distribution) *int64 { return d.P50 }},
	} {
		value := func(r results.Run) (float64, bool) {
			if d := r.Times(phase); d != nil && p.of(d) != nil && *p.of(d) > 0 {
				return float64(*p.of(d)), true
			}
			return 0, false
		}
		if slices.ContainsFunc(s.runs, func(r results.Run) bool { _, known := value(r); return !known }) {
			continue
		}
		label := levels.PhaseName(phase) + " " + p.name
		c := byClients(s, "latency-by-clients", upper(label)+" against clients", label, topped, clock, value,
			func(v float64) string { return label + " " + units.Duration(time.Duration(v)) })
		if c != nil {
			c.Caption = "Lower is faster." + c.Caption
		}
		return c
	}
	return nil
}

// byClients draws a value of each run against the number of clients: the median of repeated runs, with
// the range of their values.
func byClients(s subject, name, title, label string, scale func(string, []float64, func(float64) string) axis, tick func(float64) string,
	value func(results.Run) (float64, bool), format func(float64) string) *Chart {
	p := panel{height: tall}
	var about []string
	repeated := false
	for _, series := range s.series() {
		l := line{name: series, look: s.looks[series], at: s.medians(series, value), joined: true, marked: true}
		if len(l.at) == 0 {
			continue
		}
		repeated = repeated || slices.ContainsFunc(l.at, func(p point) bool { return p.low < p.high })
		p.lines = append(p.lines, l.saying(func(p point) string {
			return fmt.Sprintf("%s, %s: %s%s", series, units.Clients(int(p.x)), format(p.y), p.interval(tick))
		}))
		first, last := l.at[0], l.at[len(l.at)-1]
		about = append(about, fmt.Sprintf("%s: %s with %s, %s with %s", series, format(first.y), units.Clients(int(first.x)), format(last.y), units.Clients(int(last.x))))
	}
	xs := slices.Compact(slices.Sorted(slices.Values(valuesOf(p.lines, func(p point) float64 { return p.x }))))
	if len(xs) < 2 {
		return nil
	}
	p.x, p.y = exactly("clients", xs, number), scale(label, intervalsOf(p.lines), tick)
	c := &Chart{Name: slug(s.name, name), Title: titled(title, s), panels: []panel{p}}
	if repeated {
		c.Caption = " Points are the medians of repeated runs, bars their ranges."
	}
	c.About = c.Title + ". " + strings.Join(about, "; ") + "."
	return c
}

// medians returns the median and the range of a value of a series' runs, by number of clients.
func (s subject) medians(series string, value func(results.Run) (float64, bool)) (at []point) {
	levels := map[int][]float64{}
	for _, r := range s.runs {
		if v, known := value(r); known && s.key(r) == series {
			levels[r.Clients] = append(levels[r.Clients], v)
		}
	}
	for n, values := range levels {
		slices.Sort(values)
		p := point{x: float64(n), y: values[len(values)/2]}
		if k := len(values); k%2 == 0 {
			p.y = (values[k/2-1] + values[k/2]) / 2
		}
		if values[0] < values[len(values)-1] {
			p.low, p.high = values[0], values[len(values)-1]
		}
		at = append(at, p)
	}
	slices.SortFunc(at, byX)
	return at
}
