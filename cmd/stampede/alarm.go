package main

import (
	"slices"

	"github.com/stampede-bench/stampede/gate"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/workloads"
)

// An alarm ends a command early.
type alarm struct {
	aborts []gate.Threshold
	went   []results.Gate // those that were not met
}

// heeds tells whether the run at the place of the file does not meet one of them,
// by the figures that are known, nil for all. Doubts are no reason to go on: what
// looks as if it did harm may do some.
func (a *alarm) heeds(run results.Run, at int, known []string) bool {
	run.Doubts, run.Warnings = []results.Warning{}, nil
	for _, t := range a.aborts {
		if known != nil && !slices.Contains(known, t.Figure()) {
			continue
		}
		gates, _ := gate.Judge(results.File{Runs: []results.Run{run}}, []gate.Threshold{t}, nil)
		if g := gates[0]; g.Run >= 0 && (g.Verdict == results.Failed || g.Verdict == results.Violated) {
			g.Run, g.Why = at, "it ended the command"
			a.went = append(a.went, g)
			return true
		}
	}
	return false
}

// figuresUnderWay are those that a run has while it goes on.
func figuresUnderWay(p workloads.Progress) []string {
	known := []string{"errors", "generator.cpu_cores"}
	for _, of := range lapPercentiles(p.Lap) {
		if of.value > 0 {
			known = append(known, p.Lap.Phase+".response."+of.name)
		}
	}
	return known
}

// underWay is the run as far as it can tell.
func underWay(run results.Run, p workloads.Progress) results.Run {
	p50, p90, p99 := int64(p.Lap.P50), int64(p.Lap.P90), int64(p.Lap.P99)
	run.Phases = []string{p.Lap.Phase}
	run.Latency = map[string]results.Latency{p.Lap.Phase: {Response: &results.Distribution{P50: &p50, P90: &p90, P99: &p99}}}
	run.Errors = map[string]int64{"": p.Errors}
	run.Generator.CPUCores = p.CPUCores
	return run
}
