package document

import (
	"fmt"
	"slices"
	"time"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/units"
)

// A recovered is one row of the table of recoveries: a run and one of its recoveries.
type recovered struct {
	run results.Run
	results.Recovery
}

// recoveries returns a row for each recovery of each run.
func recoveries(runs []results.Run) (all []recovered) {
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

// recoveryTable returns a table with a row for each fault of each run.
func recoveryTable(title string, runs []results.Run) Table {
	all := recoveries(runs)
	t := Table{Title: title, Rows: make([][]string, len(all)), Notes: faultErrors(runs)}
	if len(all) == 0 {
		return t
	}
	text := func(c Column, cell func(recovered) string) { t.add(c, func(i int) string { return cell(all[i]) }) }
	moment := func(c Column, of func(recovered) *time.Duration) {
		text(c, func(r recovered) string {
			if d := of(r); d != nil {
				return units.Duration(*d)
			}
			return units.Absent
		})
	}
	// felt adds a column for a time that exists only if the fault had an effect.
	felt := func(c Column, of func(recovered) *time.Duration, judged func(recovered) bool) {
		text(c, func(r recovered) string {
			switch d := of(r); {
			case d != nil:
				return units.Duration(*d)
			case judged(r):
				return noEffect
			}
			return units.Absent
		})
	}
	text(Column{Head: "clients", Over: title, Key: true}, func(r recovered) string { return units.Count(int64(r.run.Clients)) })
	text(Column{Head: "form", Left: true, Key: true}, func(r recovered) string { return r.run.Form })
	text(Column{Head: "at", Key: true}, func(r recovered) string { return units.Duration(r.AtNS) })
	text(Column{Head: "fault", Left: true, Key: true}, func(r recovered) string { return r.What })
	moment(Column{Head: "noticed", Over: "until", Gap: 3}, func(r recovered) *time.Duration { return r.NoticedNS })
	if slices.ContainsFunc(all, func(r recovered) bool { return r.LedNS != nil }) {
		moment(Column{Head: "leader"}, func(r recovered) *time.Duration { return r.LedNS })
	}
	moment(Column{Head: "all back"}, func(r recovered) *time.Duration { return r.ReconnectedNS })
	felt(Column{Head: "grant"}, func(r recovered) *time.Duration { return r.ServedNS }, recovered.served)
	felt(Column{Head: "90 %"}, func(r recovered) *time.Duration { return r.BackNS }, recovered.unhurt)
	felt(Column{Head: "p50", Over: "stall", Gap: 3}, func(r recovered) *time.Duration { return r.StallNS }, recovered.judged)
	felt(Column{Head: "max"}, func(r recovered) *time.Duration { return r.LongestStallNS }, recovered.judged)
	text(Column{Head: "lost", Over: "sessions", Gap: 3}, func(r recovered) string { return units.Count(int64(r.SessionsLost)) })
	text(Column{Head: "notif", Over: "until back", Gap: 3}, func(r recovered) string { return units.Count(r.Notifications) })
	text(Column{Head: "reads"}, func(r recovered) string { return units.Count(r.Reads) })
	text(Column{Head: "re-arms"}, func(r recovered) string { return units.Count(r.Rearms) })
	return t
}

// faultErrors says how far the times can be wrong if several machines noted them.
func faultErrors(runs []results.Run) []string {
	var most time.Duration
	for _, r := range runs {
		if r.Faults != nil {
			most = max(most, r.Faults.ErrorNS)
		}
	}
	if most == 0 {
		return nil
	}
	return []string{fmt.Sprintf("several machines noted what the faults did: each time is known within ±%s", units.Duration(most))}
}

// noEffect is the cell for a value that does not differ measurably from the time before the fault.
const noEffect = "none"

// judged reports whether there was enough activity before the fault to judge its effect.
func (r recovered) judged() bool { return r.Effect != string(metrics.Unclear) }

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
func outages(runs []results.Run) (lines []string) {
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
		return after + fmt.Sprintf("there was no measurable outage; one longer than %s would have been seen.", units.Duration(r.DetectableNS))
	case metrics.Unclear:
		return after + "it is unclear whether there was an outage: too little happened before, or one was in progress."
	case metrics.Slowdown:
		return after + "there was no measurable outage, but fewer than half as many grants a second as before" + r.recovery()
	}
	line := after + "no client was served for " + units.Duration(r.pause())
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
	return fmt.Sprintf("; after %s a second saw nine tenths of what was done before.", units.Duration(*r.BackNS))
}

// beliefs describes a run in which a client believed that it held while another client held, and
// says whether a fencing token lets a resource refuse the stale client.
func beliefs(r results.Run) string {
	s := r.Safety
	if s.BeliefOverlaps == 0 {
		return ""
	}
	who := "a holder that was away still believed that it held"
	if s.BeliefOverlaps > 1 {
		who = units.Count(s.BeliefOverlaps) + " holders that were away still believed that they held"
	}
	line := fmt.Sprintf("%s/%s: %s while another client held: ", r.Recipe, r.Form, who)
	if !s.Tokens {
		return line + "the form has no fencing token, so a resource cannot refuse it."
	}
	return line + "its fencing token is older, so a resource can refuse it."
}
