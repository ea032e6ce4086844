package figure

import (
	"slices"

	"github.com/stampede-bench/stampede/metrics/observe"
	"github.com/stampede-bench/stampede/results"
)

// counts returns the figures of what stampede count counts of a form at rest.
func counts() []Figure {
	return each(Figure{Exactness: Formula, Merge: Unmerged},
		Figure{Name: "count.notifications", About: "notifications that count counts",
			count: func(s results.Settled) results.Exact { return s.Notifications }},
		Figure{Name: "count.reads", About: "reads that count counts",
			count: func(s results.Settled) results.Exact { return s.Reads }},
		Figure{Name: "count.writes", About: "writes that count counts",
			count: func(s results.Settled) results.Exact { return s.Writes }},
		Figure{Name: "count.failed_writes", About: "failed writes that count counts",
			count: func(s results.Settled) results.Exact { return s.FailedWrites }},
		Figure{Name: "count.largest_fanout", About: "most notifications of one write that count counts",
			count: func(s results.Settled) results.Exact { return s.LargestFanout }})
}

// observed returns the figures that only observations have. Fan-out and wasted wake-ups are figures of
// runs, too.
func observed() []Figure {
	traffic := func(value func(observe.Place) (float64, bool)) func(results.Observation) (float64, bool) {
		return func(o results.Observation) (float64, bool) {
			t := o.Observed.Traffic
			return value(observe.Place{Notifications: t.Notifications, Changes: t.Changes, Requests: t.Requests})
		}
	}
	perChange := func(count func(observe.Place) int64) func(observe.Place) (float64, bool) {
		return func(p observe.Place) (float64, bool) {
			return float64(count(p)) / float64(max(p.Changes, 1)), p.Changes > 0
		}
	}
	count := func(value func(observe.Place) int64) func(observe.Place) (float64, bool) {
		return func(p observe.Place) (float64, bool) { return float64(value(p)), true }
	}
	notifications := perChange(func(p observe.Place) int64 { return p.Notifications })
	requests := perChange(func(p observe.Place) int64 { return p.Requests })
	return each(Figure{Exactness: Schedule, Merge: Unmerged},
		Figure{Name: "notifications_per_change", About: "notifications to each change that observe counts",
			Export: "stampede.observed.change.fanout", path: notifications, observation: traffic(notifications)},
		Figure{Name: "requests_per_change", About: "requests to each change that observe counts",
			Export: "stampede.observed.requests", path: requests, observation: traffic(requests)},
		Figure{Name: "notifications", Better: Neither, About: "notifications that observe counts",
			Export: "stampede.observed.notifications", path: count(func(p observe.Place) int64 { return p.Notifications })},
		Figure{Name: "changes", Better: Neither, About: "changes that caused notifications",
			Export: "stampede.observed.change.fanout", path: count(func(p observe.Place) int64 { return p.Changes })},
		Figure{Name: "sessions", Better: Neither, older: Higher, About: "sessions that set watches, at the same time",
			path: count(func(p observe.Place) int64 { return int64(p.Sessions) })},
		Figure{Name: "watches", Better: Neither, older: Higher,
			About:  "watches that were set at the same time, at most",
			Export: "stampede.observed.watches", path: count(func(p observe.Place) int64 { return p.Most })},
		Figure{Name: "polls.unchanged", Better: Neither, About: "reads that repeated an earlier one and returned the same",
			path: count(func(p observe.Place) int64 { return p.PollsSame })},
		Figure{Name: "settled.p90", Unit: Nanoseconds, Exactness: Timed, older: Either,
			About: "from a change until the last woken session waits again, the 90th percentile",
			path:  func(p observe.Place) (float64, bool) { return number(p.SettledP90) }},
		Figure{Name: "latency.p90", Unit: Nanoseconds, Exactness: Timed, About: "time of an observed request, the 90th percentile",
			path: func(p observe.Place) (float64, bool) { return number(p.LatencyP90) }})
}

// addFanout adds the sources that observations have for a figure of the fan-out.
func addFanout(f *Figure) {
	var value func(observe.Place) int64
	switch f.Name {
	case "fanout.max":
		value = func(p observe.Place) int64 { return p.FanoutMax }
	case "fanout.p50":
		value = func(p observe.Place) int64 { return p.FanoutP50 }
	default:
		return
	}
	f.path = func(p observe.Place) (float64, bool) { return float64(value(p)), true }
	f.observation = func(o results.Observation) (float64, bool) {
		t := o.Observed.Traffic
		return float64(value(observe.Place{FanoutMax: t.FanoutMax, FanoutP50: t.FanoutP50})), true
	}
}

func wastedShare(p observe.Place) (float64, bool) {
	if p.Wasted == nil || *p.Useful+*p.Wasted == 0 {
		return 0, false
	}
	return float64(*p.Wasted) / float64(*p.Useful+*p.Wasted), true
}

// ofOperations returns the figures of the kinds of requests of a whole observation.
func ofOperations(names []string) (all []Figure) {
	for _, name := range names {
		timed := func(statistic, about string, value func(observe.Operation) *int64) Figure {
			return Figure{Name: name + "." + statistic, Unit: Nanoseconds, Exactness: Timed, Merge: Unmerged,
				About: "time of an observed " + name + ", " + about,
				observation: func(o results.Observation) (float64, bool) {
					i := slices.IndexFunc(o.Observed.Operations, func(op observe.Operation) bool { return op.Name == name })
					if i < 0 {
						return 0, false
					}
					return number(value(o.Observed.Operations[i]))
				}}
		}
		all = append(all, timed("p50", "the median", func(op observe.Operation) *int64 { return op.P50 }),
			timed("p99", "the 99th percentile", func(op observe.Operation) *int64 { return op.P99 }))
	}
	return all
}
