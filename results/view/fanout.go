package view

import (
	"fmt"
	"slices"
	"time"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/levels"
	"github.com/stampede-bench/stampede/results/units"
)

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
