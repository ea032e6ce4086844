package document

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/figure"
	"github.com/stampede-bench/stampede/results/levels"
	"github.com/stampede-bench/stampede/results/outage"
	"github.com/stampede-bench/stampede/results/units"
)

// backgroundColumns adds the columns of the background load, if there was one.
func backgroundColumns(s *runTable) {
	if !s.hasBackground() {
		return
	}
	s.figure(Column{Head: "ops/s", Over: "background", Gap: 3}, func(r results.Run) (float64, bool) {
		if r.Background == nil {
			return 0, false
		}
		return r.Background.ThroughputPerS, true
	}, units.Rate)
	s.shown.Tails = backgroundTails()
	first := len(s.Columns)
	s.tail("", levels.Timing{Of: bystanders, Endless: func(p float64, r results.Run) bool { return figure.Endless("background.read", p, r) }})
	for i := range s.Columns[first:] {
		c := &s.Columns[first+i]
		c.Head, c.Gap = "read "+c.Head, 0
	}
}

// backgroundTails returns the candidates for the tail percentile of the background's reads. The background
// makes many reads, so p99 comes first.
func backgroundTails() []float64 { return []float64{99, 90, 75} }

// bystanders returns the latency of the reads of the background's clients.
func bystanders(r results.Run) *results.Distribution {
	if r.Background == nil {
		return nil
	}
	return results.Run{Latency: r.Background.Latency}.Times("read")
}

// mixColumns adds the columns for raw operations.
func mixColumns(s *runTable) {
	operations := func(c Column, share func(results.ReadRatio) float64) {
		s.figure(c, func(r results.Run) (float64, bool) { return r.ThroughputPerS * share(*r.ReadRatio), true }, units.Rate)
	}
	s.keys("clients", false)
	from := ""
	if s.rates("ops/s") {
		from = " from when due"
	}
	if slices.ContainsFunc(s.runs, func(r results.Run) bool { return r.Seconds() != nil }) {
		for _, f := range figure.Known(nil, "rounds_per_s.min", "rounds_per_s.max") {
			_, head, _ := strings.Cut(f.Name, ".")
			s.figure(Column{Head: head + "/s"}, f.RunValue, units.Rate)
		}
	}
	s.figure(Column{Head: "reads"}, func(r results.Run) (float64, bool) { return r.ReadRatio.Achieved, r.Rounds > 0 }, units.Share)
	operations(Column{Head: "reads/s"}, func(r results.ReadRatio) float64 { return r.Achieved })
	operations(Column{Head: "writes/s"}, func(r results.ReadRatio) float64 { return 1 - r.Achieved })
	some := func(has func(results.Mix) bool) bool {
		return slices.ContainsFunc(s.runs, func(r results.Run) bool { return has(*r.Mix) })
	}
	transactions := some(func(m results.Mix) bool { return m.Txns > 0 })
	if transactions {
		s.figure(Column{Head: "txns/s"}, func(r results.Run) (float64, bool) { return r.TransactionsPerS(), true }, units.Rate)
	}
	s.times("read"+from, levels.Responses("read"))
	if some(func(m results.Mix) bool { return m.Lists > 0 }) {
		s.times("list"+from, levels.Responses("list"))
	}
	s.times("write"+from, levels.Responses("write"))
	if transactions {
		s.times("transaction"+from, levels.Responses("transaction"))
	}
	if transactions && some(func(m results.Mix) bool { return m.Conditional }) {
		s.figure(Column{Head: "refused", Gap: 3}, func(r results.Run) (float64, bool) { return float64(r.Mix.Refused), true }, whole)
	}
	if some(func(m results.Mix) bool { return m.Conditional }) {
		s.figure(Column{Head: "retries", Gap: 3}, func(r results.Run) (float64, bool) { return float64(r.Mix.Retries), true }, whole)
	}
	backgroundColumns(s)
}

// mixes says what throughput and latency the raw operations reached, at the largest number of clients.
func mixes(runs []results.Run, shown levels.Shown) []string {
	most := largestRuns(levels.Medians(runs))[0]
	line := fmt.Sprintf("With %s %s operations/s, %s of them reads", levels.Crowd(most), units.Rate(most.ThroughputPerS), units.Share(most.ReadRatio.Achieved))
	if most.IsOpen() {
		line = levels.Pace(most, runs) + fmt.Sprintf(", %s of it reads", units.Share(most.ReadRatio.Achieved))
	}
	separator := ": "
	for _, phase := range most.Phases {
		if p, name := shown.Highest(runs, timesOf(phase), most); name != "" {
			line += fmt.Sprintf("%s%s %s is %s%s", separator, phase, name, shown.Cite(runs, timesOf(phase), most, p), loss(levels.Responses(phase), p, most))
			separator = ", "
		}
	}
	if most.IsOpen() && separator == ", " {
		line += ", from when it was due"
	}
	return []string{line + "."}
}

// fanoutColumns adds the columns for a fan-out.
func fanoutColumns(s *runTable) {
	s.keys("watchers", true)
	open := s.rates("writes/s")
	if open { // no room for all percentiles beside the offered rate
		s.latency(Column{Head: "first", Over: "p50 notified, from when due", Gap: 3}, levels.Responses("first").Percentile(50))
		s.latency(Column{Head: "median"}, levels.Responses("median").Percentile(50))
		s.latency(Column{Head: "last"}, levels.Responses("last").Percentile(50))
		s.tail("last", levels.Responses("last"))
	} else {
		for _, phase := range []string{"first", "median", "last"} {
			s.times(phase+" notified", levels.Responses(phase))
		}
	}
	s.tail("writer", levels.Responses("write"))
	s.figure(Column{Head: "missed", Gap: 3}, portion(func(r results.Run) (int64, int64) {
		return r.Fanout.Missed, r.Fanout.Missed + r.Fanout.Notifications
	}), units.Share)
}

// notified says how long a form takes until all watchers are notified, with its name if there are several
// forms.
func notified(r results.Run, forms []string) string {
	line := "One write wakes 1 watcher: "
	if n := r.Fanout.Watchers; n != 1 {
		line = fmt.Sprintf("One write wakes %s watchers: ", units.Count(int64(n)))
	}
	if len(forms) > 1 {
		line = r.Form + ": " + line
	}
	last, write := results.P50(r.ServiceTimes("last")), results.P50(r.ServiceTimes("write"))
	if last == nil || write == nil {
		return line + "too few writes to say how long that takes."
	}
	line += fmt.Sprintf("the last is notified %s after it is issued, and the writer waits %s for its acknowledgement.",
		duration(*last), duration(*write))
	if f := r.Fanout; f.Missed > 0 {
		line += fmt.Sprintf(" Of the changes %s were missed.", units.Percent(f.Missed, f.Missed+f.Notifications))
	}
	return line
}

// The phases of a storm: back is the time from its start until one client is back, over until all are.
// The ordinary client has a session that the storm does not hit: ordinary is a write of it during the
// storm, calm a write before the storm.
const (
	back     = "back"
	over     = "over"
	ordinary = "ordinary"
	calm     = "calm"
)

func isStorm(r results.Run) bool { return r.Recipe == "sessions" }

// stormColumns adds the columns for storms, which affect all sessions at the same time.
func stormColumns(s *runTable) {
	s.keys("clients", true)
	s.text(Column{Head: "storms"}, func(r results.Run) string { return units.Count(r.Rounds) })
	s.latency(Column{Head: "mean", Over: "all back", Gap: 3}, levels.Calls(over).Value(mean))
	s.times("each back", levels.Calls(back))
	s.latency(Column{Head: "mean", Over: "an ordinary write before", Gap: 3}, levels.Calls(calm).Value(mean))
	s.latency(Column{Head: "max"}, levels.Calls(calm).Value(longest))
	s.latency(Column{Head: "mean", Over: "and meanwhile", Gap: 3}, levels.Calls(ordinary).Value(mean))
	s.latency(Column{Head: "max"}, levels.Calls(ordinary).Value(longest))
	s.figure(Column{Head: "not made"}, portion(func(r results.Run) (int64, int64) {
		if r.Storm == nil {
			return 0, 0
		}
		return r.Storm.Omitted, r.Storm.Made + r.Storm.Omitted
	}), units.Share)
}

func mean(d *results.Distribution) float64 { return d.Mean }

func longest(d *results.Distribution) float64 { return float64(d.Max) }

// reconnectColumns adds the columns for clients that come back after outages.
func reconnectColumns(s *runTable) {
	attempts := func(c Column, of func(results.Reconnects) float64) {
		s.figure(c, func(r results.Run) (float64, bool) {
			if r.Reconnects == nil {
				return 0, false
			}
			return of(*r.Reconnects), true
		}, units.Rate)
	}
	s.keys("clients", true)
	s.text(Column{Head: "outages"}, func(r results.Run) string { return units.Count(r.Rounds) })
	attempts(Column{Head: "per client", Over: "connection attempts", Gap: 3}, func(c results.Reconnects) float64 { return c.AttemptsPerClient })
	attempts(Column{Head: "in 100 ms"}, func(c results.Reconnects) float64 { return c.BusiestTenth })
	attempts(Column{Head: "in 1 s"}, func(c results.Reconnects) float64 { return c.BusiestSecond })
	attempts(Column{Head: "mean/s"}, func(c results.Reconnects) float64 { return c.AttemptsPerS })
	s.times("each back", levels.Calls(back))
	s.latency(Column{Head: "mean", Over: "all back", Gap: 3}, levels.Calls(over).Value(mean))
}

// stormed says what the storms of a form cost.
func stormed(r results.Run) string {
	do := map[string]string{"connect": "open at once", "reconnect": "lose their connections at once",
		"expire": "end at once and are opened anew", "idle": "do nothing but stay"}[r.Form]
	line := fmt.Sprintf("When %s sessions %s, ", units.Count(int64(r.Clients)), do)
	if at := r.ServiceTimes(over); at != nil && r.Form != "idle" {
		line += fmt.Sprintf("all are back after %s, and meanwhile ", duration(at.Mean))
	}
	before, during := r.ServiceTimes(calm), r.ServiceTimes(ordinary)
	if before == nil || during == nil {
		return line + "no ordinary write was made."
	}
	line += fmt.Sprintf("an ordinary write takes %s on average and %s at most; before it took %s",
		duration(during.Mean), duration(during.Max), duration(before.Mean))
	if s := r.Storm; s != nil && s.Omitted > 0 {
		line += fmt.Sprintf(". %s of %s writes that were due meanwhile were not made, since the one before had not ended",
			units.Count(s.Omitted), units.Count(s.Made+s.Omitted))
	}
	return line + "."
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
	for _, r := range outage.All(runs) {
		led = led || r.LedNS != nil
		effect := metrics.Effect(r.Effect)
		judged := effect != metrics.Unclear // enough happened before the fault
		t.Rows = append(t.Rows, []string{units.Count(int64(r.Run.Clients)), r.Run.Form, units.Duration(r.AtNS), r.What,
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
