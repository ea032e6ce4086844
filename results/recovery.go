package results

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/stampede-bench/stampede/metrics"
)

// Breakage is what was broken on purpose in a run.
type Breakage struct {
	Schedule []string   `json:"schedule"` // as asked for, a line each, e.g. "at=10s kill leader for=5s"
	Done     []Break    `json:"done"`     // what was done to whom
	Recovery []Recovery `json:"recovery"` // what the clients had of each fault
}

// A Break is one thing that was done.
type Break struct {
	AtNS time.Duration `json:"at_ns"` // from the window's beginning
	What string        `json:"what"`  // "kill member 2, the leader"
}

// A Recovery is what the clients had of one fault, until the next one or the end of
// the window. Times are from the fault; null where it did not come about.
type Recovery struct {
	Break
	SpanNS        time.Duration  `json:"span_ns"`        // for how long it was watched
	NoticedNS     *time.Duration `json:"noticed_ns"`     // until the first client was told that it is disconnected
	LedNS         *time.Duration `json:"led_ns"`         // until a server led, where something was done to servers
	ReconnectedNS *time.Duration `json:"reconnected_ns"` // until all who were disconnected were connected again
	// Effect is "outage": a gap between grants began at the fault that was longer than
	// DetectableNS; "slowdown": no such gap, but in the second after the fault fewer than
	// half as many grants came as in the slowest second before it; "none"; or "unclear":
	// too little happened before, or an outage was in progress. "" in older files.
	Effect string `json:"effect,omitempty"`
	// DetectableNS is the longest gap that is not an outage, a multiple of the longest
	// one before the fault; 0 where there was none.
	DetectableNS time.Duration  `json:"detectable_ns,omitempty"`
	PauseNS      *time.Duration `json:"pause_ns"`  // the gap between grants that began at the fault; null unless it is an outage
	ServedNS     *time.Duration `json:"served_ns"` // until the first grant after the outage
	// The times in which clients by themselves were not served, from the fault on: the
	// middle one's and the longest, null where no longer than before the fault; and the
	// middle one's longest before the fault.
	StallNS        *time.Duration   `json:"stall_ns"`
	LongestStallNS *time.Duration   `json:"longest_stall_ns"`
	UsualStallNS   time.Duration    `json:"usual_stall_ns"`
	BackNS         *time.Duration   `json:"back_ns"`      // until a second saw nine tenths of what was done before, or as much as the slowest second before; null unless there was an outage or a slowdown
	BeforePerS     float64          `json:"before_per_s"` // grants before the fault
	AfterPerS      float64          `json:"after_per_s"`  // and from it on
	Disconnected   int              `json:"disconnected"` // clients that were, at least once
	SessionsLost   int              `json:"sessions_lost"`
	Errors         map[string]int64 `json:"errors"`
	// Totals is the traffic on the wire until all clients were back, over at least one second.
	Totals
	Rearms int64 `json:"rearms"` // requests that arm watches again after a reconnect
}

// breakage converts the recorded faults and recoveries; it returns nil if no faults were planned.
func breakage(schedule []string, r *metrics.Record) *Breakage {
	if len(schedule) == 0 {
		return nil
	}
	b := &Breakage{Schedule: schedule}
	for _, done := range r.Breaks {
		b.Done = append(b.Done, Break{done.At, done.What})
	}
	for _, v := range r.Recoveries {
		b.Recovery = append(b.Recovery, Recovery{
			Break: Break{v.At, v.What}, SpanNS: v.Span, NoticedNS: v.Noticed, LedNS: v.Led, ReconnectedNS: v.Reconnected,
			Effect: string(v.Effect), DetectableNS: v.Detectable, PauseNS: v.Pause, ServedNS: v.Served, StallNS: v.Stall, LongestStallNS: v.LongestStall, UsualStallNS: v.Usual,
			BackNS: v.Back, BeforePerS: v.Before, AfterPerS: v.After, Disconnected: v.Disconnected, SessionsLost: v.Lost,
			Errors: v.Errors, Totals: totals(v.Counts), Rearms: v.Counts.Rearms,
		})
	}
	return b
}

// A recovered is one row of the table of recoveries: a run and one of its recoveries.
type recovered struct {
	run Run
	Recovery
}

// recoveries returns a row for each recovery of each run.
func recoveries(runs []Run) (all []recovered) {
	for _, r := range runs {
		if r.Faults == nil {
			continue
		}
		for _, v := range r.Faults.Recovery {
			all = append(all, recovered{r, v})
		}
	}
	return all
}

// recoveryTable returns a table with a row for each fault of each run; nil if there were no faults.
func recoveryTable(runs []Run) *grid {
	all := recoveries(runs)
	if len(all) == 0 {
		return nil
	}
	g := &grid{rows: make([][]string, len(all))}
	text := func(c column, cell func(recovered) string) {
		g.columns = append(g.columns, c)
		for i, r := range all {
			g.rows[i] = append(g.rows[i], cell(r))
		}
	}
	moment := func(c column, of func(recovered) *time.Duration) {
		text(c, func(r recovered) string {
			if d := of(r); d != nil {
				return Duration(*d)
			}
			return absent
		})
	}
	// felt adds a column for a time that exists only if the fault had an effect.
	felt := func(c column, of func(recovered) *time.Duration, judged func(recovered) bool) {
		text(c, func(r recovered) string {
			switch d := of(r); {
			case d != nil:
				return Duration(*d)
			case judged(r):
				return noEffect
			}
			return absent
		})
	}
	text(column{head: "clients", over: "what was broken"}, func(r recovered) string { return Count(int64(r.run.Clients)) })
	text(column{head: "form", left: true, space: 2}, func(r recovered) string { return r.run.Form })
	text(column{head: "at", space: 2}, func(r recovered) string { return Duration(r.AtNS) })
	text(column{head: "fault", left: true, space: 2}, func(r recovered) string { return r.What })
	moment(column{head: "noticed", over: "until", space: 3}, func(r recovered) *time.Duration { return r.NoticedNS })
	if slices.ContainsFunc(all, func(r recovered) bool { return r.LedNS != nil }) {
		moment(column{head: "leader", space: 2}, func(r recovered) *time.Duration { return r.LedNS })
	}
	moment(column{head: "all back", space: 2}, func(r recovered) *time.Duration { return r.ReconnectedNS })
	felt(column{head: "grant", space: 2}, func(r recovered) *time.Duration { return r.ServedNS }, recovered.served)
	felt(column{head: "90 %", space: 2}, func(r recovered) *time.Duration { return r.BackNS }, recovered.unhurt)
	felt(column{head: "p50", over: "stall", space: 3}, func(r recovered) *time.Duration { return r.StallNS }, recovered.judged)
	felt(column{head: "max", space: 2}, func(r recovered) *time.Duration { return r.LongestStallNS }, recovered.judged)
	text(column{head: "lost", over: "sessions", space: 3}, func(r recovered) string { return Count(int64(r.SessionsLost)) })
	text(column{head: "notif", over: "until back", space: 3}, func(r recovered) string { return Count(r.Notifications) })
	text(column{head: "reads", space: 2}, func(r recovered) string { return Count(r.Reads) })
	text(column{head: "re-arms", space: 2}, func(r recovered) string { return Count(r.Rearms) })
	return g
}

// writeRecoveries writes the table of recoveries, if there is one.
func writeRecoveries(w io.Writer, runs []Run) {
	if g := recoveryTable(runs); g != nil {
		fmt.Fprintln(w)
		g.write(w)
	}
}

// noEffect is the cell for a value that does not differ measurably from the time before the fault.
const noEffect = "none"

// judged reports whether there was enough activity before the fault to judge its effect.
func (r recovered) judged() bool { return r.Effect != "" && r.Effect != string(metrics.Unclear) }

// served reports whether the fault was judged to cause no outage.
func (r recovered) served() bool { return r.judged() && r.Effect != string(metrics.Outage) }

// unhurt reports whether the fault caused neither an outage nor a slowdown.
func (r recovered) unhurt() bool { return r.Effect == string(metrics.NoEffect) }

// pause returns the length of the outage, 0 if there was none.
func (r recovered) pause() time.Duration {
	if r.PauseNS == nil {
		return 0
	}
	return *r.PauseNS
}

// outages describes, for the runs with the most clients, the fault with the longest outage.
func outages(runs []Run) (lines []string) {
	all := recoveries(runs)
	if len(all) == 0 {
		return nil
	}
	most := slices.MaxFunc(all, func(a, b recovered) int { return a.run.Clients - b.run.Clients }).run.Clients
	all = slices.DeleteFunc(all, func(r recovered) bool { return r.run.Clients != most })
	worst := slices.MaxFunc(all, func(a, b recovered) int { return int(a.pause() - b.pause()) })
	same := func(r recovered) bool {
		return slices.Equal(r.run.Faults.Schedule, worst.run.Faults.Schedule) && r.AtNS.Round(time.Second) == worst.AtNS.Round(time.Second)
	}
	for _, r := range all {
		if !same(r) {
			continue
		}
		lines = append(lines, r.outage())
		if told := beliefs(r.run); told != "" {
			lines = append(lines, told)
		}
	}
	return lines
}

// outage returns the sentence about one fault.
func (r recovered) outage() string {
	after := fmt.Sprintf("%s/%s: after %q ", r.run.Recipe, r.run.Form, r.What)
	switch metrics.Effect(r.Effect) {
	case metrics.NoEffect:
		return after + fmt.Sprintf("there was no measurable outage; one longer than %s would have been seen.", Duration(r.DetectableNS))
	case metrics.Unclear:
		return after + "it is unclear whether there was an outage: too little happened before, or one was in progress."
	case metrics.Slowdown:
		return after + "there was no measurable outage, but fewer than half as many grants a second as before" + r.recovery()
	}
	line := after + "nobody was served for " + Duration(r.pause())
	if r.ServedNS == nil {
		return line + ", until the next fault or the end."
	}
	return line + r.recovery()
}

// recovery returns the end of that sentence, about the throughput.
func (r recovered) recovery() string {
	if r.BackNS == nil {
		return "; no second until the next fault or the end saw nine tenths of what was done before."
	}
	return fmt.Sprintf("; after %s a second saw nine tenths of what was done before.", Duration(*r.BackNS))
}

// beliefs describes a run in which a client believed that it held while another client held, and
// says whether a fencing token lets a resource refuse the stale client.
func beliefs(r Run) string {
	s := r.Safety
	if s.BeliefOverlaps == 0 {
		return ""
	}
	who := "A holder that was away"
	if s.BeliefOverlaps > 1 {
		who = Count(s.BeliefOverlaps) + " holders that were away"
	}
	line := fmt.Sprintf("%s/%s: %s believed to hold on while others did: ", r.Recipe, r.Form, who)
	if !s.Tokens {
		return line + "the form has no fencing token by which a resource could refuse it."
	}
	return line + "its fencing token is older than theirs, by which a resource can refuse it."
}
