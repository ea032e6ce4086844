package view

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/units"
)

// A busyAgent is an agent, with the largest value of each figure in any of its runs.
type busyAgent struct {
	results.Agent
	late int64 // the 99th percentile of its timers' lateness, ns; 0 if it is not known
}

// busiest returns the agents that have handed in their part of a run, in the order in which they are first named.
// A warning names those that were lost.
func busiest(runs []results.Run) (all []busyAgent) {
	for _, r := range runs {
		for _, a := range r.Agents {
			if a.Lost != nil {
				continue
			}
			i := slices.IndexFunc(all, func(b busyAgent) bool { return b.Name == a.Name })
			if i < 0 {
				i, all = len(all), append(all, busyAgent{Agent: a})
			}
			all[i].add(a)
		}
	}
	return all
}

func (b *busyAgent) add(a results.Agent) {
	b.Sessions, b.ClockErrorNS = max(b.Sessions, a.Sessions), max(b.ClockErrorNS, a.ClockErrorNS)
	b.Generator.CPUCores = max(b.Generator.CPUCores, a.Generator.CPUCores)
	b.Generator.RequestsPerS = max(b.Generator.RequestsPerS, a.Generator.RequestsPerS)
	if math.Abs(a.ClockDriftPPM) > math.Abs(b.ClockDriftPPM) {
		b.ClockDriftPPM = a.ClockDriftPPM
	}
	if lag := a.Generator.Lag; lag != nil && lag.P99 != nil {
		b.late = max(b.late, *lag.P99)
	}
}

// agents says for each agent of the runs how busy it was at most, and how well its clock is known.
func agents(runs []results.Run) (lines []string) {
	for _, a := range busiest(runs) {
		line := fmt.Sprintf("%s on %s: up to %s sessions, %s requests/s, %.1f of %s", oneLine(a.Name), oneLine(a.Host),
			units.Count(int64(a.Sessions)), units.Rate(a.Generator.RequestsPerS), a.Generator.CPUCores, units.Plural(a.Processors, "core"))
		if a.late > 0 {
			line += fmt.Sprintf(", timers late by %s at p99", units.Duration(time.Duration(a.late)))
		}
		lines = append(lines, line+fmt.Sprintf(", clock known within ±%s", units.Duration(a.ClockErrorNS)))
	}
	return lines
}

// agentTables returns the table of the agents that the runs were divided among, if there are any.
func agentTables(runs []results.Run) []Table {
	t := Table{Title: "Agents"}
	if len(runs) > 1 {
		t.Title += ": the largest value in any run"
	}
	for _, head := range []string{"agent", "host", "sessions", "requests/s", "CPU", "timers late p99", "clock error", "clock drift"} {
		t.Columns = append(t.Columns, Column{Head: head, Left: head == "agent" || head == "host"})
	}
	for _, a := range busiest(runs) {
		late := units.Absent
		if a.late > 0 {
			late = units.Duration(time.Duration(a.late))
		}
		t.Rows = append(t.Rows, []string{
			oneLine(a.Name), oneLine(a.Host), units.Count(int64(a.Sessions)), units.Rate(a.Generator.RequestsPerS),
			fmt.Sprintf("%.1f of %s", a.Generator.CPUCores, units.Plural(a.Processors, "core")), late,
			"±" + units.Duration(a.ClockErrorNS), strings.ReplaceAll(fmt.Sprintf("%+.1f ppm", a.ClockDriftPPM), "-", "−"),
		})
	}
	return filled(t)
}
