package figure

import (
	"slices"

	"github.com/stampede-bench/stampede/metrics/causality"
	"github.com/stampede-bench/stampede/metrics/observation"
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
		Figure{Name: "count.largest_fanout", About: "most sessions that one write notifies, as count counts",
			count: func(s results.Settled) results.Exact { return s.LargestFanout }})
}

// observed returns the figures that only observations have. Fan-out and wasted wake-ups are figures of
// runs, too.
func observed() []Figure {
	return slices.Concat(ofPathsAndTraffic(), ofTraffic(), ofRecovery())
}

// Why an observation may have no value.
const (
	unaudited = "it is known only of ZooKeeper's sessions that were seen from their beginning"
	few       = "fewer than ten values lie beyond the percentile"
	unchanged = "no change woke a session"
)

const missedWatches = "watches.missed"

// ofPathsAndTraffic returns the figures that a path has, and most of them also the whole observation.
func ofPathsAndTraffic() []Figure {
	perChange := func(count func(observation.Place) int64) func(observation.Place) (float64, bool) {
		return func(p observation.Place) (float64, bool) {
			return float64(count(p)) / float64(max(p.Changes, 1)), p.Changes > 0
		}
	}
	count := func(value func(observation.Place) int64) func(observation.Place) (float64, bool) {
		return func(p observation.Place) (float64, bool) { return float64(value(p)), true }
	}
	watched := func(f Figure) Figure {
		value := f.path
		f.path = func(p observation.Place) (float64, bool) {
			v, known := value(p)
			return v, known && p.Watched()
		}
		return f
	}
	both := func(f Figure, value func(observation.Place) (float64, bool)) Figure {
		f.path = value
		f.observation = func(o results.Observation) (float64, bool) {
			t := o.Observed.Traffic
			all := observation.Place{Notifications: t.Notifications, Changes: t.Changes, Requests: t.Requests,
				FailedWrites: t.FailedWrites, Armed: t.Armed, Most: t.MostStanding, Live: t.MostLive}
			if t.Audited > 0 {
				all.Missed, all.Unasked = &t.Missed, &t.Unasked
			}
			return value(all)
		}
		return f
	}
	return each(Figure{Exactness: Schedule, Merge: Unmerged},
		both(Figure{Name: "notifications_per_change", unseen: Either, absent: unchanged,
			About: "notifications to each change that observe counts", Export: "stampede.observed.notifications"},
			perChange(func(p observation.Place) int64 { return p.Notifications })),
		both(Figure{Name: "requests_per_change", unseen: Either, absent: unchanged,
			About: "requests to each change that observe counts", Export: "stampede.observed.requests"},
			perChange(func(p observation.Place) int64 { return p.Requests })),
		both(Figure{Name: "requests", About: "requests that observe counts", Export: "stampede.observed.requests"},
			count(func(p observation.Place) int64 { return p.Requests })),
		both(Figure{Name: "failed_writes", About: "writes that the service refused, such as of a node that exists or has another version"},
			count(func(p observation.Place) int64 { return p.FailedWrites })),
		watched(both(Figure{Name: "notifications", Better: Neither, About: "notifications that observe counts", Export: "stampede.observed.notifications"},
			count(func(p observation.Place) int64 { return p.Notifications }))),
		watched(both(Figure{Name: "changes", Better: Neither, About: "changes that caused notifications", Export: "stampede.observed.change.fanout"},
			count(func(p observation.Place) int64 { return p.Changes }))),
		watched(both(Figure{Name: "watches", older: Higher, About: "watches that were set at the same time, at most", Export: "stampede.observed.watches"},
			count(func(p observation.Place) int64 { return p.Most }))),
		watched(both(Figure{Name: "watches.live", older: Higher,
			About: "watches as above, without those of sequential nodes that were gone already: these can never fire"},
			count(func(p observation.Place) int64 { return p.Live }))),
		both(Figure{Name: "watches.armed", About: "requests that set a watch"},
			count(func(p observation.Place) int64 { return p.Armed })),
		watched(Figure{Name: "sessions", Better: Neither, older: Higher, About: "sessions that set watches, at the same time",
			path: count(func(p observation.Place) int64 { return int64(p.Sessions) })}),
		both(Figure{Name: missedWatches, unseen: Either, older: Higher, absent: unaudited,
			About: "watches that a change has passed without a notification"},
			func(p observation.Place) (float64, bool) { return number(p.Missed) }),
		both(Figure{Name: "notifications.unasked", unseen: Either, absent: unaudited,
			About: "notifications that belong to no watch, as one that comes twice"},
			func(p observation.Place) (float64, bool) { return number(p.Unasked) }),
		Figure{Name: "polls.unchanged", Better: Neither, About: "reads that repeated an earlier one and returned the same",
			path: count(func(p observation.Place) int64 { return p.PollsSame })},
		Figure{Name: "settled.p90", Unit: Nanoseconds, Exactness: Timed, older: Either, absent: few,
			About: "from a change until the last woken session waits again, the 90th percentile",
			path:  func(p observation.Place) (float64, bool) { return number(p.SettledP90) }},
		Figure{Name: "latency.p90", Unit: Nanoseconds, Exactness: Timed, absent: few, About: "time of an observed request, the 90th percentile",
			path: func(p observation.Place) (float64, bool) { return number(p.LatencyP90) }})
}

// ofTraffic returns the figures that only a whole observation has.
func ofTraffic() []Figure {
	count := func(value func(observation.Report) int64) func(results.Observation) (float64, bool) {
		return func(o results.Observation) (float64, bool) { return float64(value(o.Observed)), true }
	}
	rate := func(value func(observation.Traffic) int64) func(results.Observation) (float64, bool) {
		return func(o results.Observation) (float64, bool) {
			seconds := o.Observed.Duration.Seconds()
			return float64(value(o.Observed.Traffic)) / max(seconds, 1e-9), seconds > 0
		}
	}
	ofEvents := func(value func(causality.Events) float64) func(results.Observation) (float64, bool) {
		return func(o results.Observation) (float64, bool) {
			e := o.Observed.Events
			return value(e), e.Largest != nil // older files have no events
		}
	}
	return each(Figure{Exactness: Schedule, Merge: Unmerged},
		Figure{Name: "herds", unseen: Either, older: Either, undecided: Higher,
			About:       "places at which a change wakes several sessions, most of them in vain",
			observation: count(func(r observation.Report) int64 { return int64(len(r.Herds())) })},
		Figure{Name: "connections", About: "connections that clients opened",
			observation: count(func(r observation.Report) int64 { return r.Traffic.Connections })},
		Figure{Name: "sessions.opened", About: "sessions that clients opened",
			observation: count(func(r observation.Report) int64 { return r.Churn.Opened })},
		Figure{Name: "sessions.expired", About: "sessions that had no connection for longer than their time-out",
			observation: count(func(r observation.Report) int64 { return r.Traffic.Lost })},
		Figure{Name: "watches.per_session", older: Higher, About: "watches that one session had set at the same time, at most",
			observation: count(func(r observation.Report) int64 { return int64(r.Traffic.MostOfSession) })},
		Figure{Name: "watches.rearmed", About: "watches that reconnected sessions set again within one second, at most",
			observation: count(func(r observation.Report) int64 { return r.Rearming.MostWatches })},
		Figure{Name: "event.notifications", unseen: Either, older: Either,
			About:       "notifications of the largest event: a change, or a session's end, with all that follows",
			observation: ofEvents(func(e causality.Events) float64 { return float64(e.NotificationsMax) })},
		Figure{Name: "event.requests", unseen: Either, older: Either,
			About:       "requests of the largest event, with the one that began it",
			observation: ofEvents(func(e causality.Events) float64 { return float64(e.RequestsMax) })},
		Figure{Name: "rest.requests_per_s", unseen: Either, Unit: PerSecond, older: Either,
			About:       "requests that belong to no event, in a second of the observation",
			observation: ofEvents(func(e causality.Events) float64 { return e.AtRestPerS })},
		Figure{Name: "requests_per_s", unseen: Either, Unit: PerSecond,
			About: "requests in a second, on average", Export: "stampede.observed.requests",
			observation: rate(func(t observation.Traffic) int64 { return t.Requests })},
		Figure{Name: "bytes_per_s", unseen: Either, Unit: PerSecond,
			About:       "bytes of requests, replies and notifications in a second, on average",
			observation: rate(func(t observation.Traffic) int64 { return t.Bytes })})
}

// addFanout adds the sources that observations have for a figure of the fan-out.
func addFanout(f *Figure) {
	var value func(observation.Place) int64
	switch f.Name {
	case "fanout.max":
		f.across = true
		value = func(p observation.Place) int64 { return p.FanoutMax }
	case "fanout.p50":
		f.unseen = Either
		value = func(p observation.Place) int64 { return p.FanoutP50 }
	default:
		return
	}
	f.path = func(p observation.Place) (float64, bool) { return float64(value(p)), p.Watched() }
	f.observation = func(o results.Observation) (float64, bool) {
		t := o.Observed.Traffic
		return float64(value(observation.Place{FanoutMax: t.FanoutMax, FanoutP50: t.FanoutP50})), true
	}
}

func wastedShare(p observation.Place) (float64, bool) {
	if p.Wasted == nil || *p.Useful+*p.Wasted == 0 {
		return 0, false
	}
	return float64(*p.Wasted) / float64(*p.Useful+*p.Wasted), true
}

// ofOperations returns the figures of the kinds of requests of a whole observation.
func ofOperations(names []string) (all []Figure) {
	for _, name := range names {
		timed := func(statistic, about string, value func(observation.Operation) *int64) Figure {
			return Figure{Name: name + "." + statistic, Unit: Nanoseconds, Exactness: Timed, Merge: Unmerged,
				About: "time of an observed " + name + ", " + about,
				observation: func(o results.Observation) (float64, bool) {
					i := slices.IndexFunc(o.Observed.Operations, func(op observation.Operation) bool { return op.Name == name })
					if i < 0 {
						return 0, false
					}
					return number(value(o.Observed.Operations[i]))
				}}
		}
		all = append(all, timed("p50", "the median", func(op observation.Operation) *int64 { return op.P50 }),
			timed("p99", "the 99th percentile", func(op observation.Operation) *int64 { return op.P99 }))
	}
	return all
}
