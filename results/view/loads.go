package view

import (
	"fmt"
	"slices"
	"time"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/levels"
	"github.com/stampede-bench/stampede/results/units"
)

// backgroundColumns adds the columns of the background load, if there was one.
func backgroundColumns(s *sheet) {
	if !s.beside() {
		return
	}
	s.figure(column{head: "ops/s", over: "background", space: 3}, func(r results.Run) (float64, bool) {
		if r.Background == nil {
			return 0, false
		}
		return r.Background.ThroughputPerS, true
	}, units.Rate)
	s.shown.tails = backgroundTails()
	first := len(s.columns)
	s.tail("", "read", bystanders)
	for i := range s.columns[first:] {
		c := &s.columns[first+i]
		c.head, c.space = "read "+c.head, 2
	}
}

// backgroundTails returns the candidates for the tail percentile of the background's reads. The background
// makes many reads, so p99 comes first.
func backgroundTails() []float64 { return []float64{99, 90, 75} }

// bystanders returns the latency of the background's clients in the phase.
func bystanders(r results.Run, phase string) *results.Distribution {
	if r.Background == nil {
		return nil
	}
	return results.Run{Latency: r.Background.Latency}.Times(phase)
}

// harm says how much longer the background's reads take beside the naive form than beside the other
// form, if that is known of both.
func harm(naive, calm results.Run, runs []results.Run, shown columns) []string {
	shown.tails = backgroundTails()
	e, _, percentile := shown.slowdown(runs, func(r results.Run) *results.Distribution { return bystanders(r, "read") }, naive, calm)
	ratio := e.Value
	switch {
	case percentile == "":
		return nil
	case ratio >= 1.95:
		return []string{fmt.Sprintf("A read of the background takes %s times longer at its %s.", units.Short(ratio), percentile)}
	case ratio >= 1.05:
		return []string{fmt.Sprintf("A read of the background takes %.0f %% longer at its %s.", 100*(ratio-1), percentile)}
	}
	return []string{fmt.Sprintf("A read of the background takes no longer at its %s.", percentile)}
}

// aboutBackground describes the background: "background of 16 clients at 5 000/s, 90 % reads".
func aboutBackground(b results.Background) string {
	rate := ""
	if b.RatePerS > 0 {
		rate = " at " + units.Rate(b.RatePerS) + "/s"
	}
	return fmt.Sprintf("background of %s%s, %s reads", units.Clients(b.Clients), rate, units.Share(b.ReadRatio.Asked))
}

// mixTable adds the columns for raw operations: a row for each level.
func mixTable(s *sheet) {
	operations := func(c column, share func(results.ReadRatio) float64) {
		s.figure(c, func(r results.Run) (float64, bool) { return r.ThroughputPerS * share(*r.ReadRatio), true }, units.Rate)
	}
	s.text(column{head: "clients", over: placeOf(s.runs[0])},
		func(r results.Run) string { return units.Count(int64(r.Clients)) })
	from := ""
	if s.rates("ops/s") {
		from = " from when due"
	}
	s.figure(column{head: "reads", space: 2}, func(r results.Run) (float64, bool) { return r.ReadRatio.Achieved, true }, units.Share)
	operations(column{head: "reads/s", space: 2}, func(r results.ReadRatio) float64 { return r.Achieved })
	operations(column{head: "writes/s", space: 2}, func(r results.ReadRatio) float64 { return 1 - r.Achieved })
	s.times("read"+from, "read", results.Run.Times)
	s.times("write"+from, "write", results.Run.Times)
	if slices.ContainsFunc(s.runs, func(r results.Run) bool { return r.Mix.Conditional }) {
		s.figure(column{head: "retries", space: 3}, func(r results.Run) (float64, bool) { return float64(r.Mix.Retries), true }, whole)
	}
	backgroundColumns(s)
	s.safety()
}

// mixes says what throughput and latency the raw operations reached, at the largest number of clients.
func mixes(runs []results.Run, shown columns) []string {
	most := slices.MaxFunc(levels.Medians(runs), func(a, b results.Run) int { return a.Clients - b.Clients })
	line := fmt.Sprintf("With %s %s operations/s, %s of them reads", levels.Crowd(most), units.Rate(most.ThroughputPerS), units.Share(most.ReadRatio.Achieved))
	if most.IsOpen() {
		line = keepsUp(most) + fmt.Sprintf(", %s of it reads", units.Share(most.ReadRatio.Achieved))
	}
	separator := ": "
	for _, phase := range most.Phases {
		of := func(r results.Run) *results.Distribution { return r.Times(phase) }
		if p, name := shown.highest(runs, of, most); name != "" {
			v, _ := shown.at(runs, of, most, p)
			line += fmt.Sprintf("%s%s %s is %s", separator, phase, name, units.Duration(time.Duration(v)))
			separator = ", "
		}
	}
	if most.IsOpen() {
		line += ", from when it was due"
	}
	return []string{line + "."}
}

// aboutMix describes the operations: "1 000 keys of 1 000 B".
func aboutMix(m results.Mix) string {
	text := fmt.Sprintf("%s keys of %s B", units.Count(int64(m.Keys)), units.Count(int64(m.SizeBytes)))
	if m.KeysBy != "uniform" {
		text += ", " + m.KeysBy
	}
	if m.InFlight > 1 {
		text += fmt.Sprintf(", %s in flight per client", units.Count(int64(m.InFlight)))
	}
	return text
}

// fanoutTable adds the columns for a fan-out: a row for each number of watchers and form.
func fanoutTable(s *sheet) {
	runs, text := s.runs, s.text
	latency := func(c column, phase string, percentile func(*results.Distribution) *int64) {
		s.latency(c, phase, results.Run.Times, percentile)
	}
	text(column{head: "watchers", over: placeOf(runs[0])},
		func(r results.Run) string { return units.Count(int64(r.Clients)) })
	text(column{head: "form", left: true, space: 2}, func(r results.Run) string { return r.Form })
	open := s.rates("writes/s")
	if open { // no room for all percentiles beside the offered rate
		latency(column{head: "first", over: "p50 notified, from when due", space: 3}, "first", results.P50)
		latency(column{head: "median", space: 2}, "median", results.P50)
		latency(column{head: "last", space: 2}, "last", results.P50)
		s.tail("last", "last", results.Run.Times)
	} else {
		for _, phase := range []string{"first", "median", "last"} {
			s.times(phase+" notified", phase, results.Run.Times)
		}
	}
	s.tail("writer", "write", results.Run.Times)
	s.figure(column{head: "missed", space: 3}, portion(func(r results.Run) (int64, int64) { return r.Fanout.Missed, r.Fanout.Missed + r.Fanout.Notifications }), units.Share)
	s.safety()
}

// notifiedAll says how long each form takes until all watchers are notified, at the largest number of
// clients.
func notifiedAll(runs []results.Run) (lines []string) {
	most := slices.MaxFunc(runs, func(a, b results.Run) int { return a.Clients - b.Clients }).Clients
	forms := levels.Distinct(runs, func(r results.Run) string { return r.Form })
	for _, r := range runs {
		if r.Clients != most {
			continue
		}
		line := notified(r)
		if len(forms) > 1 {
			line = r.Form + ": " + line
		}
		lines = append(lines, line)
	}
	return lines
}

func notified(r results.Run) string {
	watchers := "1 watcher"
	if n := r.Fanout.Watchers; n != 1 {
		watchers = units.Count(int64(n)) + " watchers"
	}
	line := fmt.Sprintf("One write wakes %s: ", watchers)
	last, write := results.P50(r.ServiceTimes("last")), results.P50(r.ServiceTimes("write"))
	if last == nil || write == nil {
		return line + "too few writes to say how long that takes."
	}
	line += fmt.Sprintf("the last is notified %s after it is issued, and the writer waits %s for its acknowledgement.",
		units.Duration(time.Duration(*last)), units.Duration(time.Duration(*write)))
	if f := r.Fanout; f.Missed > 0 {
		line += fmt.Sprintf(" Of the changes %s were missed.", units.Percent(f.Missed, f.Missed+f.Notifications))
	}
	return line
}
