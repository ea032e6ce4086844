package metric

import (
	"strings"

	"github.com/stampede-bench/stampede/results"
)

// latencies returns the metrics of the latency of a phase.
func latencies(name string, of func(results.Run) results.Latency) []Metric {
	return append(
		distribution(name+".response", Nanoseconds, true, "time of "+name+" from when it was due", func(r results.Run) *results.Distribution { return of(r).Response }),
		distribution(name+".service", Nanoseconds, true, "time of "+name+" from its call", func(r results.Run) *results.Distribution { return of(r).Service })...)
}

// distribution returns the metrics of a distribution.
func distribution(name string, unit Unit, timed bool, about string, of func(results.Run) *results.Distribution) (all []Metric) {
	for _, s := range statistics() {
		all = append(all, Metric{name + "." + s.name, unit, Less, timed, about + ", " + s.about, func(r results.Run) (float64, bool) {
			d := of(r)
			if d == nil {
				return 0, false
			}
			return s.of(*d)
		}})
	}
	return all
}

// A statistic is one number of a distribution.
type statistic struct {
	name, about string
	of          func(results.Distribution) (float64, bool)
}

func statistics() []statistic {
	percentile := func(of func(results.Distribution) *int64) func(results.Distribution) (float64, bool) {
		return func(d results.Distribution) (float64, bool) {
			v := of(d)
			if v == nil {
				return 0, false
			}
			return float64(*v), true
		}
	}
	return []statistic{
		{"min", "the least", func(d results.Distribution) (float64, bool) { return float64(d.Min), true }},
		{"mean", "the mean", func(d results.Distribution) (float64, bool) { return d.Mean, true }},
		{"p50", "the median", percentile(func(d results.Distribution) *int64 { return d.P50 })},
		{"p90", "the 90th percentile", percentile(func(d results.Distribution) *int64 { return d.P90 })},
		{"p99", "the 99th percentile", percentile(func(d results.Distribution) *int64 { return d.P99 })},
		{"p999", "the 99.9th percentile", percentile(func(d results.Distribution) *int64 { return d.P999 })},
		{"max", "the greatest", func(d results.Distribution) (float64, bool) { return float64(d.Max), true }},
	}
}

// long inserts "response" into the short name of a latency metric: "acquire.p99" becomes
// "acquire.response.p99".
func long(name string, phases []string) string {
	for _, phase := range append([]string{"background.read", "background.write"}, phases...) {
		if rest, ok := strings.CutPrefix(name, phase+"."); ok && !strings.Contains(rest, ".") {
			return phase + ".response." + rest
		}
	}
	return name
}
