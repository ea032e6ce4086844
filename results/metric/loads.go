package metric

import (
	"slices"

	"github.com/stampede-bench/stampede/results"
)

// loads returns the metrics of loads other than recipes: raw operations, the background, and a
// fan-out. A storm of sessions has only the metrics of its phases.
func loads() []Metric {
	all := []Metric{
		{"mix.reads", Share, Neither, true, "operations that read", mix(func(r results.Run) float64 { return r.ReadRatio.Achieved })},
		{"mix.retries", Number, Less, true, "conditional sets that were made again", mix(func(r results.Run) float64 { return float64(r.Mix.Retries) })},
		{"missed", Share, Less, true, "changes that a watcher was not notified of", missed},
	}
	for _, part := range []struct {
		name, about string
		of          func(results.FromAck) *results.Signed
	}{
		{"first", "the first watcher", func(f results.FromAck) *results.Signed { return f.First }},
		{"median", "half of the watchers", func(f results.FromAck) *results.Signed { return f.Median }},
		{"last", "the last watcher", func(f results.FromAck) *results.Signed { return f.Last }},
		{"each", "each watcher", func(f results.FromAck) *results.Signed { return f.Each }},
	} {
		all = append(all, fromAck(part.name, part.about, part.of)...)
	}
	return append(all, background()...)
}

func mix(of func(results.Run) float64) func(results.Run) (float64, bool) {
	return func(r results.Run) (float64, bool) {
		if r.Mix == nil || r.ReadRatio == nil {
			return 0, false
		}
		return of(r), true
	}
}

func missed(r results.Run) (float64, bool) {
	if r.Fanout == nil || r.Fanout.Missed+r.Fanout.Notifications == 0 {
		return 0, false
	}
	return float64(r.Fanout.Missed) / float64(r.Fanout.Missed+r.Fanout.Notifications), true
}

// fromAck returns the metrics of the time from a write's acknowledgement to the notification of its
// watchers. It is negative for watchers that are notified before the acknowledgement.
func fromAck(name, about string, of func(results.FromAck) *results.Signed) (all []Metric) {
	for _, s := range []struct {
		name, about string
		of          func(results.Signed) *int64
	}{
		{"min", "the least", func(s results.Signed) *int64 { return &s.Min }},
		{"p50", "the median", func(s results.Signed) *int64 { return s.P50 }},
		{"p99", "the 99th percentile", func(s results.Signed) *int64 { return s.P99 }},
		{"max", "the greatest", func(s results.Signed) *int64 { return &s.Max }},
	} {
		all = append(all, Metric{"from_ack." + name + "." + s.name, Nanoseconds, Less, true,
			"until " + about + " was notified, from the write's acknowledgement, " + s.about,
			func(r results.Run) (float64, bool) {
				if r.Fanout == nil {
					return 0, false
				}
				times := of(r.Fanout.FromAck)
				if times == nil || s.of(*times) == nil {
					return 0, false
				}
				return float64(*s.of(*times)), true
			}})
	}
	return all
}

// background returns the metrics of the background load, whose clients do not take part in the recipe.
func background() []Metric {
	of := func(value func(results.Background) float64) func(results.Run) (float64, bool) {
		return func(r results.Run) (float64, bool) {
			if r.Background == nil {
				return 0, false
			}
			return value(*r.Background), true
		}
	}
	all := []Metric{
		{"background.rounds_per_s", PerSecond, More, true, "operations of the background in a second", of(func(b results.Background) float64 { return b.ThroughputPerS })},
		{"background.reads", Share, Neither, true, "operations of the background that read", of(func(b results.Background) float64 { return b.ReadRatio.Achieved })},
		{"background.late", Number, Less, true, "its arrivals for which no client was free when they were due", of(func(b results.Background) float64 { return float64(b.Late) })},
		{"background.skipped", Number, Less, true, "its arrivals that no client ever started", of(func(b results.Background) float64 { return float64(b.Skipped) })},
		{"background.unfinished", Number, Less, true, "its arrivals, or turns of a closed loop, that had not ended", of(func(b results.Background) float64 { return float64(b.Unfinished) })},
		{"background.errors", Number, Less, false, "its operations that failed", of(func(b results.Background) float64 { return float64(sum(b.Errors)) })},
	}
	for _, phase := range []string{"read", "write"} {
		all = slices.Concat(all, latencies("background."+phase, func(r results.Run) results.Latency {
			if r.Background == nil {
				return results.Latency{}
			}
			return r.Background.Latency[phase]
		}))
	}
	return all
}
