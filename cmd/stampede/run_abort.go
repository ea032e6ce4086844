package main

import (
	"slices"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/gate"
	"github.com/stampede-bench/stampede/workloads"
)

// An abortConditions holds the conditions of --abort-on, which end a command early.
type abortConditions struct {
	conditions []gate.Threshold
	fired      []results.Gate // the conditions that came true
}

// check reports whether the run meets an abort condition, and records the first that it meets with
// the run's place in the file. It checks only conditions on known figures; nil means all. It
// ignores the run's doubts: a figure that may indicate harm is reason enough to stop.
func (a *abortConditions) check(run results.Run, at int, known []string) bool {
	run.Doubts, run.Warnings = []results.Warning{}, nil
	for _, t := range a.conditions {
		if known != nil && !slices.Contains(known, t.Figure()) {
			continue
		}
		gates, _ := gate.Judge(results.File{Runs: []results.Run{run}}, []gate.Threshold{t}, nil)
		if g := gates[0]; g.Run >= 0 && g.Verdict == results.Fail {
			g.Run, g.Why = at, "it ended the command"
			a.fired = append(a.fired, g)
			return true
		}
	}
	return false
}

// metricsSoFar returns the names of the figures that are known while a run is in progress.
func metricsSoFar(p workloads.Progress) []string {
	known := []string{"errors", "generator.cpu_cores"}
	for _, of := range lapPercentiles(p.Lap) {
		if of.value > 0 {
			known = append(known, p.Lap.Phase+".response."+of.name)
		}
	}
	return known
}

// soFar returns the run with the figures that are known so far.
func soFar(run results.Run, p workloads.Progress) results.Run {
	p50, p90, p99 := int64(p.Lap.P50), int64(p.Lap.P90), int64(p.Lap.P99)
	run.Phases = []string{p.Lap.Phase}
	run.Latency = map[string]results.Latency{p.Lap.Phase: {Response: &results.Distribution{P50: &p50, P90: &p90, P99: &p99}}}
	run.Errors = map[string]int64{"": p.Errors}
	run.Generator.CPUCores = p.CPUCores
	return run
}
