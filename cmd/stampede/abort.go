package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/gate"
	"github.com/stampede-bench/stampede/workloads"
)

// An abortConditions holds the conditions of --abort-on, which end a command early.
type abortConditions struct {
	conditions []gate.Threshold
	fired      []results.Gate // the conditions that came true
}

// abortEvery is how often the figures of the window so far are looked at, the first time when it has been open for as
// long: a rate of less than that says nothing.
const abortEvery = time.Second

// following returns the observer that ends a run as soon as a condition is true: of the errors and the response times of
// the first phase at each report of progress, in the last interval and since the window opened, and of all figures of the
// window once a second, if this process has the clients. Requests that the service leaves unanswered count for the times of
// all phases. at is the run's place in the file.
func (a *abortConditions) following(row results.Run, at int, end func()) observer {
	if len(a.conditions) == 0 {
		return observer{}
	}
	var (
		live    *workloads.Live
		setting results.Setting
		last    *hdrhistogram.Histogram // of the last interval
		next    = abortEvery
		first   = metrics.NewDurations() // times of the first phase
		over    = false
	)
	const ended = "it ended the command"
	look := func(seen, atLeast results.Run, figures func(string) bool, why string) {
		if !over && a.look(seen, atLeast, at, figures, why) {
			over = true
			end()
		}
	}
	return observer{
		begin: func(run observedRun, l *workloads.Live) { live, setting = l, run.setting },
		progress: func(p workloads.Progress) {
			now := row
			now.Errors, now.Phases = map[string]int64{"": p.Errors}, []string{p.Lap.Phase}
			look(now, now, func(f string) bool { return f == "errors" }, ended)
			if p.Lap.Times != nil && p.Lap.Times != last { // agents report an interval again while none has ended
				last = p.Lap.Times
				first.Merge(last)
				for _, times := range []*hdrhistogram.Histogram{last, first} {
					known, atLeast := now, now
					known.Latency = map[string]results.Latency{p.Lap.Phase: {Response: results.Summary(times)}}
					atLeast.Latency = map[string]results.Latency{p.Lap.Phase: {Response: results.AtLeast(times, 0)}}
					look(known, atLeast, func(f string) bool { return strings.HasPrefix(f, p.Lap.Phase+".response.p") }, ended)
				}
			}
			if p.Unanswered >= abortEvery {
				silent := a.unanswered(now, p.Unanswered)
				look(silent, silent, func(f string) bool { _, is := phaseOf(f); return is },
					fmt.Sprintf("%s: for %.1f s no round ended, and requests were unanswered", ended, p.Unanswered.Seconds()))
			}
			if live != nil && p.Measuring && p.Elapsed >= next {
				next = p.Elapsed.Truncate(abortEvery) + abortEvery
				record := live.SoFar()
				record.Generator.Offered += record.Generator.Waiting // due, and no client has taken them yet
				known := results.SoFar(setting, &record)
				look(known, known.AtLeast(&record), func(f string) bool { return f != "errors" }, ended)
			}
		},
	}
}

// unanswered returns the run with the least that its times can be while the service answers nothing for so long: those
// of the last interval, in which no operation has ended, are those of the requests that are outstanding.
func (a *abortConditions) unanswered(run results.Run, since time.Duration) results.Run {
	least := int64(since)
	times := &results.Distribution{P50: &least, P90: &least, P99: &least, P999: &least, Max: least}
	run.Latency = map[string]results.Latency{}
	// A condition on reads or writes that the background does not make was refused.
	run.Background = &results.Background{Latency: map[string]results.Latency{}, ReadRatio: results.ReadRatio{Asked: 0.5}}
	for _, t := range a.conditions {
		phase, is := phaseOf(t.Figure())
		if !is || !t.IsUpper() {
			continue
		}
		all := results.Latency{Response: times, Service: times}
		if name, background := strings.CutPrefix(phase, "background."); background {
			run.Background.Latency[name] = all
			continue
		}
		run.Latency[phase] = all
		if !slices.Contains(run.Phases, phase) {
			run.Phases = append(slices.Clone(run.Phases), phase)
		}
	}
	return run
}

// phaseOf returns the phase of a figure of its times, such as acquire for acquire.response.p99.
func phaseOf(figure string) (phase string, is bool) {
	if phase, _, is = strings.Cut(figure, ".response."); !is {
		phase, _, is = strings.Cut(figure, ".service.")
	}
	return phase, is
}

// ended reports whether a run that has ended meets a condition, so that no other one is done.
func (a *abortConditions) ended(run results.Run, at int) bool {
	return a.look(run, run, at, func(string) bool { return true }, "it was true when the run had ended")
}

// look reports whether a condition on the figures is true, and records the first. A time is too long if the least that
// its percentile can be is. It ignores the run's doubts: a figure that may indicate harm is reason enough to stop.
func (a *abortConditions) look(seen, atLeast results.Run, at int, figures func(string) bool, why string) bool {
	seen.Doubts, atLeast.Doubts = nil, nil
	for _, t := range a.conditions {
		if !figures(t.Figure()) {
			continue
		}
		run := seen
		if t.IsUpper() { // it is not met where the condition is that the figure is above a limit
			run = atLeast
		}
		gates, _ := gate.Judge(results.File{Runs: []results.Run{run}}, []gate.Threshold{t}, nil)
		if g := gates[0]; g.Run >= 0 && g.Verdict == results.Fail {
			g.Run, g.Why = at, why
			if g.Measured != nil && *g.Measured >= math.MaxInt64 { // see results.AtLeast
				g.Measured, g.MeasuredInfinite = nil, true
			}
			a.fired = append(a.fired, g)
			return true
		}
	}
	return false
}
