package results

import (
	"fmt"
	"slices"
	"time"

	"github.com/stampede-bench/stampede/metrics"
)

// fanout converts the fan-out of a write to its watchers; nil for another workload.
func fanout(f *metrics.Fanout) *Fanout {
	if f == nil {
		return nil
	}
	return &Fanout{Watchers: f.Watchers, Writes: f.Writes, Notifications: f.Notifications, Missed: f.Missed,
		FromAck: FromAck{First: signed(f.First), Median: signed(f.Median), Last: signed(f.Last), Each: signed(f.Each)}}
}

// signed returns nil for an empty distribution.
func signed(s metrics.Signed) *Signed {
	n := s.Count()
	if n == 0 {
		return nil
	}
	at := func(percentile float64) *int64 {
		if !metrics.Supports(n, percentile) {
			return nil
		}
		v := s.Quantile(percentile)
		return &v
	}
	return &Signed{Min: s.Min(), P50: at(50), P99: at(99), Max: s.Max()}
}

// fanoutTable adds the columns for a fan-out: a row for each number of watchers and form.
func fanoutTable(s *sheet) {
	runs, text := s.runs, s.text
	latency := func(c column, phase string, percentile func(*Distribution) *int64) {
		s.latency(c, phase, Run.latency, percentile)
	}
	text(column{head: "watchers", over: runs[0].place()},
		func(r Run) string { return Count(int64(r.Clients)) })
	text(column{head: "form", left: true, space: 2}, func(r Run) string { return r.Form })
	open := s.rates("writes/s")
	if open { // no room for all percentiles beside the offered rate
		latency(column{head: "first", over: "p50 told, from when due", space: 3}, "first", median)
		latency(column{head: "median", space: 2}, "median", median)
		latency(column{head: "last", space: 2}, "last", median)
		s.tail("last", "last", Run.latency)
	} else {
		for _, phase := range []string{"first", "median", "last"} {
			s.times(phase+" told", phase, Run.latency)
		}
	}
	s.tail("writer", "write", Run.latency)
	s.figure(column{head: "missed", space: 3}, portion(func(r Run) (int64, int64) { return r.Fanout.Missed, r.Fanout.Missed + r.Fanout.Notifications }), share)
	s.safety()
}

// tellings says how long each form takes until all watchers are notified, at the largest number of
// clients.
func tellings(runs []Run) (lines []string) {
	most := slices.MaxFunc(runs, func(a, b Run) int { return a.Clients - b.Clients }).Clients
	forms := distinct(runs, func(r Run) string { return r.Form })
	for _, r := range runs {
		if r.Clients != most {
			continue
		}
		line := r.telling()
		if len(forms) > 1 {
			line = r.Form + ": " + line
		}
		lines = append(lines, line)
	}
	return lines
}

func (r Run) telling() string {
	watchers := "1 watcher"
	if n := r.Fanout.Watchers; n != 1 {
		watchers = Count(int64(n)) + " watchers"
	}
	line := fmt.Sprintf("One write wakes %s: ", watchers)
	last, write := median(r.service("last")), median(r.service("write"))
	if last == nil || write == nil {
		return line + "too few writes to say how long that takes."
	}
	line += fmt.Sprintf("the last is told %s after it was issued, and the writer waits %s for its acknowledgement.",
		Duration(time.Duration(*last)), Duration(time.Duration(*write)))
	if f := r.Fanout; f.Missed > 0 {
		line += fmt.Sprintf(" Of the changes %s were missed.", percent(f.Missed, f.Missed+f.Notifications))
	}
	return line
}
