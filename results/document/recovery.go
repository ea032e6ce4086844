package document

import (
	"cmp"
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
		if r.Faults != nil {
			for _, v := range r.Faults.Recovery {
				all = append(all, recovered{r, v})
			}
		}
	}
	return all
}

// recoveryTable returns a table with a row for each fault of each run. It says how far the times can be wrong
// if several machines noted them.
func recoveryTable(title string, runs []results.Run) Table {
	t := Table{Title: title, Columns: columns(0, "clients", "<form", "at", "<fault", "noticed", "leader", "all back", "grant", "90 %", "p50", "max",
		"ended", "given up", "notif", "reads", "re-arms")}
	for i, over := range map[int]string{0: title, 4: "until", 9: "stall", 11: "sessions", 13: "until back"} {
		t.Columns[i].Over, t.Columns[i].Gap = over, 3
	}
	for i := range 4 {
		t.Columns[i].Key = true
	}
	// A time without a value is n/a, or none if it would exist only if the fault had an effect.
	moment := func(d *time.Duration, none bool) string {
		switch {
		case d != nil:
			return units.Duration(*d)
		case none:
			return "none"
		}
		return units.Absent
	}
	led := false
	for _, r := range recoveries(runs) {
		led = led || r.LedNS != nil
		effect := metrics.Effect(r.Effect)
		judged := effect != metrics.Unclear // enough happened before the fault
		t.Rows = append(t.Rows, []string{units.Count(int64(r.run.Clients)), r.run.Form, units.Duration(r.AtNS), r.What,
			moment(r.NoticedNS, false), moment(r.LedNS, false), moment(r.ReconnectedNS, false),
			moment(r.ServedNS, judged && effect != metrics.Outage), moment(r.BackNS, effect == metrics.NoEffect),
			moment(r.StallNS, judged), moment(r.LongestStallNS, judged),
			units.Count(int64(r.SessionsLost)), units.Count(int64(r.SessionsGivenUp)), units.Count(r.Notifications), units.Count(r.Reads), units.Count(r.Rearms)})
	}
	if !led {
		t.drop("leader")
	}
	var most time.Duration
	for _, r := range runs {
		if r.Faults != nil {
			most = max(most, r.Faults.ErrorNS)
		}
	}
	if most > 0 {
		t.Notes = []string{fmt.Sprintf("several machines noted what the faults did: each time is known within ±%s", units.Duration(most))}
	}
	return t
}

// pause returns the length of the outage, 0 if there was none.
func (r recovered) pause() time.Duration { return *cmp.Or(r.PauseNS, new(time.Duration)) }

// outages describes, for the runs with the most clients, the fault with the longest outage.
func outages(runs []results.Run) (lines []string) {
	runs = slices.DeleteFunc(slices.Clone(runs), func(r results.Run) bool { return len(recoveries([]results.Run{r})) == 0 })
	if len(runs) == 0 {
		return nil
	}
	all := recoveries(largestRuns(runs))
	worst := slices.MaxFunc(all, func(a, b recovered) int { return int(a.pause() - b.pause()) })
	for _, r := range all {
		if !slices.Equal(r.run.Faults.Schedule, worst.run.Faults.Schedule) || r.AtNS.Round(time.Second) != worst.AtNS.Round(time.Second) {
			continue
		}
		lines = append(lines, r.outage())
		lines = append(lines, beliefs(r.run)...)
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
	if r.Phase != "" {
		line = after + fmt.Sprintf("no %s ended for %s, while other operations did", r.Phase, units.Duration(r.pause()))
	}
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
func beliefs(r results.Run) []string {
	s := r.Safety
	if s.BeliefOverlaps == 0 {
		return nil
	}
	who := "a holder that was away still believed that it held"
	if s.BeliefOverlaps > 1 {
		who = units.Count(s.BeliefOverlaps) + " holders that were away still believed that they held"
	}
	token := "its fencing token is older, so a resource can refuse it."
	if !s.Tokens {
		token = "the form has no fencing token, so a resource cannot refuse it."
	}
	return []string{fmt.Sprintf("%s/%s: %s while another client held: %s", r.Recipe, r.Form, who, token)}
}
