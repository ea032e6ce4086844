package figure

import (
	"slices"
	"strings"

	"github.com/stampede-bench/stampede/results"
)

// latencies returns the figures of the latency of a phase, of the recipe or of the background.
func latencies(name string, background bool, latency func(results.Run) results.Latency) []Figure {
	response, service := "stampede.phase.response.duration", "stampede.phase.service.duration"
	if background {
		response, service = "stampede.background.response.duration", ""
	}
	common := Figure{Population: Window, Exactness: Timed, Merge: Histogram, delay: lengthens, needs: phaseOf(name)}
	if background {
		common.needs = backgroundReads
		if name == backgroundPrefix+"write" {
			common.needs = backgroundSets
		}
	}
	return append(
		distribution(common, name+".response", Nanoseconds, "time of "+name+" from when it was due", response,
			func(r results.Run) *results.Distribution { return latency(r).Response }),
		distribution(common, name+".service", Nanoseconds, "time of "+name+" from its call", service,
			func(r results.Run) *results.Distribution { return latency(r).Service })...)
}

// distribution returns the figures of a distribution.
func distribution(common Figure, name string, unit Unit, about, export string,
	part func(results.Run) *results.Distribution) (all []Figure) {
	for _, s := range statistics() {
		all = append(all, Figure{Name: name + "." + s.name, Unit: unit, About: about + ", " + s.about, Export: export,
			run: func(r results.Run) (float64, bool) {
				d := part(r)
				if d == nil {
					return 0, false
				}
				return s.value(*d)
			}})
	}
	return each(common, all...)
}

// A statistic is one number of a distribution.
type statistic struct {
	name, about string
	value       func(results.Distribution) (float64, bool)
}

func statistics() []statistic {
	percentile := func(value func(results.Distribution) *int64) func(results.Distribution) (float64, bool) {
		return func(d results.Distribution) (float64, bool) { return number(value(d)) }
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

func number(n *int64) (float64, bool) {
	if n == nil {
		return 0, false
	}
	return float64(*n), true
}

// long inserts "response" into the short name of the figure of a latency: "acquire.p99" becomes
// "acquire.response.p99".
func long(name string, phases []string) string {
	for _, phase := range append([]string{"background.read", "background.write"}, phases...) {
		if rest, ok := strings.CutPrefix(name, phase+"."); ok && !strings.Contains(rest, ".") {
			return phase + ".response." + rest
		}
	}
	return name
}

// loads returns the figures of loads other than recipes: raw operations and a fan-out. A storm of
// sessions has only the figures of its phases.
func loads() []Figure {
	mix := func(value func(results.Run) float64) func(results.Run) (float64, bool) {
		return func(r results.Run) (float64, bool) {
			if r.Mix == nil || r.ReadRatio == nil {
				return 0, false
			}
			return value(r), true
		}
	}
	transacting := func(value func(results.Run) float64) func(results.Run) (float64, bool) {
		return func(r results.Run) (float64, bool) {
			if r.Mix == nil || r.Mix.Txns == 0 {
				return 0, false
			}
			return value(r), true
		}
	}
	all := each(Figure{Population: Window, Exactness: Schedule},
		Figure{Name: "mix.reads", needs: aMix, Unit: Share, Better: Neither, About: "operations that read", Merge: Derived,
			run: mix(func(r results.Run) float64 { return r.ReadRatio.Achieved })},
		Figure{Name: "mix.retries", needs: aMix, About: "conditional sets that were made again", Merge: Sum,
			run: mix(func(r results.Run) float64 { return float64(r.Mix.Retries) })},
		Figure{Name: "mix.transactions_per_s", Exactness: Timed, needs: transactions, Unit: PerSecond, Better: More, About: "transactions in a second", Merge: Derived, delay: slows,
			run: transacting(results.Run.TransactionsPerS)},
		Figure{Name: "mix.refused", needs: transactions, About: "conditional transactions that were refused and made again", Merge: Sum,
			run: transacting(func(r results.Run) float64 { return float64(r.Mix.Refused) })},
		Figure{Name: "missed", Exactness: Timed, delay: adds, needs: aFanout, Unit: Share, About: "changes that a watcher was not notified of", Merge: Coordinator,
			run: ratio(func(r results.Run) (int64, int64) {
				if r.Fanout == nil {
					return 0, 0
				}
				return r.Fanout.Missed, r.Fanout.Missed + r.Fanout.Notifications
			})})
	// Writes are counted: that they pile up before a slow watcher does not depend on how fast the machine is.
	all = append(all, Figure{Name: "behind", needs: aFanout, Population: Window, Exactness: Schedule, Merge: Coordinator,
		About: "writes of which the slowest watcher had yet to learn, at most",
		run:   pointed(func(r results.Run) *results.Fanout { return r.Fanout }, func(f results.Fanout) float64 { return float64(f.Behind) })})
	returns := func(value func(results.Reconnects) float64) func(results.Run) (float64, bool) {
		return pointed(func(r results.Run) *results.Reconnects { return r.Reconnects }, value)
	}
	// Attempts are counted, as polls are: a busy machine makes none of them longer.
	all = append(all, each(Figure{Population: Window, Exactness: Schedule, Merge: Coordinator, needs: outages},
		Figure{Name: "attempts.per_client", About: "attempts of a client to come back after an outage",
			run: returns(func(c results.Reconnects) float64 { return c.AttemptsPerClient })},
		Figure{Name: "attempts.busiest_100ms", About: "attempts of all clients in the busiest 100 ms since the beginning of an outage",
			run: returns(func(c results.Reconnects) float64 { return c.BusiestTenth })},
		Figure{Name: "attempts.busiest_second", About: "attempts of all clients in the busiest second since the beginning of an outage",
			run: returns(func(c results.Reconnects) float64 { return c.BusiestSecond })},
		Figure{Name: "attempts.per_s", Unit: PerSecond, Exactness: Timed, About: "attempts of all clients to come back in a second of the window",
			run: returns(func(c results.Reconnects) float64 { return c.AttemptsPerS })})...)
	for _, part := range []struct {
		name, about string
		times       func(results.FromAck) *results.Signed
	}{
		{"first", "the first watcher", func(f results.FromAck) *results.Signed { return f.First }},
		{"median", "half of the watchers", func(f results.FromAck) *results.Signed { return f.Median }},
		{"last", "the last watcher", func(f results.FromAck) *results.Signed { return f.Last }},
		{"each", "each watcher", func(f results.FromAck) *results.Signed { return f.Each }},
	} {
		all = append(all, fromAck(part.name, part.about, part.times)...)
	}
	return all
}

// fromAcknowledgement begins the names of the figures of times that can be negative.
const fromAcknowledgement = "from_ack."

// fromAck returns the figures of the time from a write's acknowledgement to the notification of its
// watchers. It is negative for watchers that are notified before the acknowledgement.
func fromAck(name, about string, times func(results.FromAck) *results.Signed) (all []Figure) {
	for _, s := range []struct {
		name, about string
		value       func(results.Signed) *int64
	}{
		{"min", "the least", func(s results.Signed) *int64 { return &s.Min }},
		{"p50", "the median", func(s results.Signed) *int64 { return s.P50 }},
		{"p99", "the 99th percentile", func(s results.Signed) *int64 { return s.P99 }},
		{"max", "the greatest", func(s results.Signed) *int64 { return &s.Max }},
	} {
		all = append(all, Figure{Name: fromAcknowledgement + name + "." + s.name, Unit: Nanoseconds,
			About:      "until " + about + " was notified, from the write's acknowledgement, " + s.about,
			Population: Window, Exactness: Timed, Merge: Coordinator, delay: shifts, needs: aFanout,
			run: func(r results.Run) (float64, bool) {
				if r.Fanout == nil || times(r.Fanout.FromAck) == nil {
					return 0, false
				}
				return number(s.value(*times(r.Fanout.FromAck)))
			}})
	}
	return all
}

// background returns the figures of the background load, whose clients do not take part in the recipe.
func background() []Figure {
	part := func(value func(results.Background) float64) func(results.Run) (float64, bool) {
		return pointed(func(r results.Run) *results.Background { return r.Background }, value)
	}
	arriving := func(count func(results.Background) int64) func(results.Run) (float64, bool) {
		return func(r results.Run) (float64, bool) {
			if r.Background == nil || r.Background.RatePerS <= 0 {
				return 0, false
			}
			return float64(count(*r.Background)), true
		}
	}
	all := each(Figure{Population: Window, Exactness: Timed, Merge: Sum, needs: aBackground},
		Figure{Name: "background.rounds_per_s", Unit: PerSecond, Better: More, About: "operations of the background in a second",
			Merge: Derived, Export: "stampede.background.operations", delay: slows,
			run: part(func(b results.Background) float64 { return b.ThroughputPerS })},
		Figure{Name: "background.reads", Exactness: Schedule, Unit: Share, Better: Neither, About: "operations of the background that read",
			Merge: Derived, Export: "stampede.background.operations",
			run: part(func(b results.Background) float64 { return b.ReadRatio.Achieved })},
		Figure{Name: "background.late", needs: aBackgroundRate, delay: adds, About: "its arrivals for which no client was free when they were due",
			Export: "stampede.background.arrivals", run: arriving(func(b results.Background) int64 { return b.Late })},
		Figure{Name: "background.skipped", needs: aBackgroundRate, delay: adds, About: "its arrivals that no client ever started",
			Export: "stampede.background.arrivals", run: arriving(func(b results.Background) int64 { return b.Skipped })},
		Figure{Name: "background.unfinished", endsWithout: aBackgroundRate, delay: adds, About: "its arrivals, or turns of a closed loop, that had not ended",
			run: part(func(b results.Background) float64 { return float64(b.Unfinished) })},
		Figure{Name: "background.errors", About: "its operations that failed", Exactness: Schedule,
			run: part(func(b results.Background) float64 { return float64(total(b.Errors)) })})
	for _, phase := range []string{"read", "write"} {
		all = slices.Concat(all, latencies("background."+phase, true, func(r results.Run) results.Latency {
			if r.Background == nil {
				return results.Latency{}
			}
			return r.Background.Latency[phase]
		}))
	}
	return all
}
