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
	PauseNS       time.Duration  `json:"pause_ns"`       // the longest time in which nobody was served
	ServedNS      *time.Duration `json:"served_ns"`      // until the pause was over: the first grant
	// The longest times in which clients were not served: the middle one's, that of
	// all, and the middle one's before the fault.
	StallNS        time.Duration    `json:"stall_ns"`
	LongestStallNS time.Duration    `json:"longest_stall_ns"`
	UsualStallNS   time.Duration    `json:"usual_stall_ns"`
	BackNS         *time.Duration   `json:"back_ns"`      // until a second saw nine tenths of what was done before
	BeforePerS     float64          `json:"before_per_s"` // grants before the fault
	AfterPerS      float64          `json:"after_per_s"`  // and from it on
	Disconnected   int              `json:"disconnected"` // clients that were, at least once
	SessionsLost   int              `json:"sessions_lost"`
	Errors         map[string]int64 `json:"errors"`
	// What crossed the wire until everybody was back, a second at least.
	Totals
	Rearms int64 `json:"rearms"` // requests that arm watches again after a reconnect
}

// breakage writes down what was broken; nil where nothing was.
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
			PauseNS: v.Pause, ServedNS: v.Served, StallNS: v.Stall, LongestStallNS: v.LongestStall, UsualStallNS: v.Usual,
			BackNS: v.Back, BeforePerS: v.Before, AfterPerS: v.After, Disconnected: v.Disconnected, SessionsLost: v.Lost,
			Errors: v.Errors, Totals: totals(v.Counts), Rearms: v.Counts.Rearms,
		})
	}
	return b
}

// A recovered is one row of the table of recoveries.
type recovered struct {
	run Run
	Recovery
}

// recoveries are the rows of the runs: each fault with those of all forms.
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

// recoveryTable is a row for each fault of each run; nil where nothing was broken.
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
	text(column{head: "clients", over: "what was broken"}, func(r recovered) string { return Count(int64(r.run.Clients)) })
	text(column{head: "form", left: true, space: 2}, func(r recovered) string { return r.run.Form })
	text(column{head: "at", space: 2}, func(r recovered) string { return Duration(r.AtNS) })
	text(column{head: "fault", left: true, space: 2}, func(r recovered) string { return r.What })
	moment(column{head: "noticed", over: "until", space: 3}, func(r recovered) *time.Duration { return r.NoticedNS })
	if slices.ContainsFunc(all, func(r recovered) bool { return r.LedNS != nil }) {
		moment(column{head: "leader", space: 2}, func(r recovered) *time.Duration { return r.LedNS })
	}
	moment(column{head: "all back", space: 2}, func(r recovered) *time.Duration { return r.ReconnectedNS })
	moment(column{head: "grant", space: 2}, func(r recovered) *time.Duration { return r.ServedNS })
	moment(column{head: "90 %", space: 2}, func(r recovered) *time.Duration { return r.BackNS })
	text(column{head: "p50", over: "stall", space: 3}, func(r recovered) string { return Duration(r.StallNS) })
	text(column{head: "max", space: 2}, func(r recovered) string { return Duration(r.LongestStallNS) })
	text(column{head: "lost", over: "sessions", space: 3}, func(r recovered) string { return Count(int64(r.SessionsLost)) })
	text(column{head: "notif", over: "until back", space: 3}, func(r recovered) string { return Count(r.Notifications) })
	text(column{head: "reads", space: 2}, func(r recovered) string { return Count(r.Reads) })
	text(column{head: "re-arms", space: 2}, func(r recovered) string { return Count(r.Rearms) })
	return g
}

// writeRecoveries writes that table.
func writeRecoveries(w io.Writer, runs []Run) {
	if g := recoveryTable(runs); g != nil {
		fmt.Fprintln(w)
		g.write(w)
	}
}

// outages says, of the runs with the most clients, what the fault did that kept
// them waiting longest.
func outages(runs []Run) (lines []string) {
	all := recoveries(runs)
	if len(all) == 0 {
		return nil
	}
	most := slices.MaxFunc(all, func(a, b recovered) int { return a.run.Clients - b.run.Clients }).run.Clients
	all = slices.DeleteFunc(all, func(r recovered) bool { return r.run.Clients != most })
	worst := slices.MaxFunc(all, func(a, b recovered) int { return int(a.PauseNS - b.PauseNS) })
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

// outage is the sentence on one fault.
func (r recovered) outage() string {
	line := fmt.Sprintf("%s/%s: after %q nobody was served for %s", r.run.Recipe, r.run.Form, r.What, Duration(r.PauseNS))
	switch {
	case r.ServedNS == nil:
		return line + ", and nobody was to the end."
	case r.BackNS == nil:
		return line + "; it did not get back to nine tenths of what it did before."
	}
	return line + fmt.Sprintf("; after %s it did nine tenths of what it did before.", Duration(*r.BackNS))
}

// beliefs says of a run in which holders believed that they held on while others did
// what would have kept them from doing harm.
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
