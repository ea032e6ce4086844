package outage

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/levels"
	"github.com/stampede-bench/stampede/results/units"
)

// A Recovered is a run and its recovery from one fault.
type Recovered struct {
	Run results.Run
	results.Recovery
}

// All returns each recovery of each run.
func All(runs []results.Run) (all []Recovered) {
	for _, r := range runs {
		if r.Faults != nil {
			for _, v := range r.Faults.Recovery {
				all = append(all, Recovered{r, v})
			}
		}
	}
	return all
}

// Worst returns, of the runs with the most clients, the recoveries from the fault with the longest outage: one
// for each run with the same faults.
func Worst(runs []results.Run) []Recovered {
	all := All(runs)
	if len(all) == 0 {
		return nil
	}
	most := slices.MaxFunc(all, func(a, b Recovered) int { return a.Run.Clients - b.Run.Clients }).Run.Clients
	all = slices.DeleteFunc(all, func(r Recovered) bool { return r.Run.Clients != most })
	worst := slices.MaxFunc(all, func(a, b Recovered) int { return int(a.pause() - b.pause()) })
	return slices.DeleteFunc(all, func(r Recovered) bool {
		return !slices.Equal(r.Run.Faults.Schedule, worst.Run.Faults.Schedule) || r.AtNS.Round(time.Second) != worst.AtNS.Round(time.Second)
	})
}

// Findings describe the fault with the longest outage, for the runs with the most clients: the herd of the
// clients that return, and then the outage of each run.
func Findings(runs []results.Run) (lines []string) {
	worst := Worst(runs)
	lines = herd(worst)
	for _, r := range worst {
		lines = append(lines, r.outage())
		lines = append(lines, beliefs(r.Run)...)
	}
	return lines
}

// herd compares what crosses the wire while clients return after the fault: in the naive form with most, and in the
// first one that avoids the herd. It says nothing if there is no herd.
func herd(all []Recovered) []string {
	var naive, calm *Recovered
	for i, r := range all {
		switch {
		case r.Disconnected == 0:
		case r.Run.Family == "naive" && (naive == nil || r.messages() > naive.messages()):
			naive = &all[i]
		case r.Run.Family != "naive" && calm == nil:
			calm = &all[i]
		}
	}
	if naive == nil || calm == nil || naive.Run.Recipe != calm.Run.Recipe || naive.messages() < 2*calm.messages() {
		return nil
	}
	return []string{fmt.Sprintf("HERD: while clients return after %q, %s/%s takes %s, %s %s.", naive.Fault(),
		naive.Run.Recipe, naive.Run.Form, naive.Traffic(), calm.Run.Form, calm.Traffic())}
}

func (r Recovered) messages() int64 { return r.Notifications + r.Reads }

// Traffic says what crossed the wire until all clients were back.
func (r Recovered) Traffic() string {
	return units.CountOf(r.Notifications, "notification") + " and " + units.CountOf(r.Reads, "read")
}

// chosen matches the number of the one member that a run chose for a fault: "member 2, " in "kill member 2, the leader".
var chosen = regexp.MustCompile(`member \d+, `)

// Fault names the fault without the member that it hit, which differs from run to run.
func (r Recovered) Fault() string { return chosen.ReplaceAllString(r.What, "") }

// pause returns the length of the outage, 0 if there was none.
func (r Recovered) pause() time.Duration { return *cmp.Or(r.PauseNS, new(time.Duration)) }

// outage returns the sentence about one fault.
func (r Recovered) outage() string {
	after := fmt.Sprintf("%s/%s: after %q ", r.Run.Recipe, r.Run.Form, r.What)
	switch metrics.Effect(r.Effect) {
	case metrics.NoEffect:
		return after + fmt.Sprintf("there was no measurable outage; one longer than %s would have been seen.", units.Duration(r.DetectableNS))
	case metrics.Unclear:
		return after + "it is unclear whether there was an outage: too little happened before or after, or one was in progress."
	case metrics.Slowdown:
		if doubt := levels.Doubt(levels.Speed(), []results.Run{r.Run}); doubt != "" {
			return after + "there was no measurable outage; that fewer than half as many grants a second ended as before may not be the fault's doing: " + doubt + "."
		}
		return after + "there was no measurable outage, but fewer than half as many grants a second as before" + r.recovery()
	}
	if r.ServedNS == nil && r.serviceLost() {
		return after + "the service was gone, which this fault does not explain."
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

// serviceLost reports whether the run ended after the fault, and before another one, because its service was gone.
func (r Recovered) serviceLost() bool {
	all := r.Run.Faults.Recovery
	return r.AtNS == all[len(all)-1].AtNS && r.Run.LostService()
}

// recovery returns the end of that sentence, about the throughput.
func (r Recovered) recovery() string {
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

// Returns compares the attempts of the clients that come back after the outages of runs of several forms, and how
// long it takes on average until all are back. The form with the most attempts in the busiest tenth of a second comes first.
func Returns(runs []results.Run) []string {
	runs = slices.DeleteFunc(slices.Clone(runs), func(r results.Run) bool { return r.Reconnects == nil })
	if len(runs) == 0 {
		return nil
	}
	slices.SortStableFunc(runs, func(a, b results.Run) int {
		return cmp.Compare(b.Reconnects.BusiestTenth, a.Reconnects.BusiestTenth)
	})
	attempts, back := []string{}, []string{}
	for _, r := range runs {
		attempts = append(attempts, fmt.Sprintf("%s with %s", units.Rate(r.Reconnects.BusiestTenth), r.Form))
		last := units.Absent
		if d := r.ServiceTimes("over"); d != nil {
			last = units.Duration(time.Duration(d.Mean))
		}
		back = append(back, last)
	}
	return []string{
		fmt.Sprintf("In the busiest 100 ms of an outage of %s, %s these attempts to come back: %s.",
			units.Setting(runs[0].Reconnects.OutageNS), makes(runs[0].Clients), listed(attempts)),
		fmt.Sprintf("On average all are back %s after its end%s.", listed(back), map[bool]string{true: ", in this order"}[len(back) > 1]),
	}
}

// makes returns the clients and the verb: "1 client makes", "8 clients make".
func makes(clients int) string {
	if clients == 1 {
		return "1 client makes"
	}
	return units.Clients(clients) + " make"
}

// listed joins the parts: "a, b and c".
func listed(parts []string) string {
	last := len(parts) - 1
	if last == 0 {
		return parts[0]
	}
	return strings.Join(parts[:last], ", ") + " and " + parts[last]
}
