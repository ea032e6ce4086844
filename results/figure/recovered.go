package figure

import (
	"cmp"
	"time"

	"github.com/stampede-bench/stampede/metrics/recovery"
	"github.com/stampede-bench/stampede/results"
)

// unjudged is why an observation has no figure of recovery.
const unjudged = "no fault that observe injected was judged"

// percents are what the figures of times are percentiles of.
var percents = map[string]int{"recovery.p50": 50, "recovery.p99": 99, "recovery.max": 100}

const missedChanges = "recovery.missed_changes"

// OfFaults reports whether the figure is of what a program does after faults.
func (f Figure) OfFaults() bool { return f.absent == unjudged }

// ofRecovery returns the figures of what a program does after faults: over all faults that were judged.
func ofRecovery() []Figure {
	over := func(join func(so, of float64) float64, value func(recovery.Outcome) float64) func(results.Observation) (float64, bool) {
		return func(o results.Observation) (float64, bool) {
			if o.Recovery == nil {
				return 0, false
			}
			so, known := 0.0, false
			for _, of := range o.Recovery.Outcomes {
				if of.Verdict != recovery.NotApplicable {
					so, known = join(so, value(of)), true
				}
			}
			return so, known && !o.Recovery.Doubtful()
		}
	}
	sum := func(value func(recovery.Outcome) int64) func(results.Observation) (float64, bool) {
		return over(func(so, of float64) float64 { return so + of }, func(o recovery.Outcome) float64 { return float64(value(o)) })
	}
	most := func(value func(recovery.Outcome) int64) func(results.Observation) (float64, bool) {
		return over(func(so, of float64) float64 { return max(so, of) }, func(o recovery.Outcome) float64 { return float64(value(o)) })
	}
	took := func(name, about string, value func(recovery.Times) time.Duration) Figure {
		return Figure{Name: name, Unit: Nanoseconds, Exactness: Timed, About: "from the break of its connection, or the end of its lease or watch, until " + about + " had registered and watched all again",
			observation: most(func(o recovery.Outcome) int64 { return int64(max(value(o.Registered), value(o.Watching))) })}
	}
	return each(Figure{Exactness: Schedule, Merge: Unmerged, absent: unjudged, unseen: Either},
		Figure{Name: "recovery.not_recovered", About: "sessions that did not come back after a fault that observe injected, or only partly",
			observation: sum(func(o recovery.Outcome) int64 { return o.Partly + o.Not })},
		Figure{Name: "recovery.missing_nodes", About: "ephemeral nodes that were not registered again after a fault",
			observation: sum(func(o recovery.Outcome) int64 { return o.Nodes.Had - o.Nodes.Back })},
		Figure{Name: "recovery.missing_watches", About: "watches that were not armed again after a fault",
			observation: sum(func(o recovery.Outcome) int64 { return o.Watches.Had - o.Watches.Back })},
		Figure{Name: "recovery.duplicates", About: "ephemeral nodes that were registered once more than before a fault",
			observation: sum(func(o recovery.Outcome) int64 { return o.Nodes.Duplicated })},
		Figure{Name: "recovery.gave_up", About: "sessions whose client tried no more to come back after a fault",
			observation: sum(func(o recovery.Outcome) int64 { return o.GaveUp })},
		Figure{Name: missedChanges, About: "changes during a fault of what was watched that the program neither was told of nor read later",
			observation: func(o results.Observation) (float64, bool) {
				missed, known := sum(func(o recovery.Outcome) int64 { return o.Missed })(o)
				changes, _ := sum(func(o recovery.Outcome) int64 { return o.Changes })(o)
				return missed, known && changes > 0
			}},
		Figure{Name: "recovery.writes_done_twice", About: "writes that were made again after their reply was lost, although they had been executed",
			observation: sum(func(o recovery.Outcome) int64 { return o.Repeated })},
		took("recovery.p50", "half of the sessions", func(t recovery.Times) time.Duration { return t.P50 }),
		took("recovery.p99", "99 % of the sessions", func(t recovery.Times) time.Duration { return t.P99 }),
		took("recovery.max", "all sessions", func(t recovery.Times) time.Duration { return t.Max }),
		Figure{Name: "reconnects.busiest_second", About: "connections that were opened in the busiest second after a fault",
			observation: most(func(o recovery.Outcome) int64 { return o.Reconnects.Second })},
		Figure{Name: "rearmed.busiest_second", About: "watches that were armed in the busiest second after a fault",
			observation: most(func(o recovery.Outcome) int64 { return o.Rearmed.Second })},
		Figure{Name: "retries.busiest_second", About: "requests that repeat one without success, in the busiest second after a fault",
			observation: most(func(o recovery.Outcome) int64 { return o.Retries.Second })},
		Figure{Name: "retries.in_step", About: "clients that retry at the same times after a fault",
			observation: most(func(o recovery.Outcome) int64 { return cmp.Or(o.InStep, new(recovery.Step)).Clients })})
}
