package document_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/document"
	"github.com/stampede-bench/stampede/results/render"
	"github.com/stampede-bench/stampede/results/resulttest"
)

// divided returns a run of two agents, whose hand-offs are wrong by up to the given error.
func divided(clients int, handoff, wrong time.Duration) results.Run {
	phase := func(name string, d, e time.Duration) metrics.Phase {
		return metrics.Phase{Name: name, Service: resulttest.Spread(1000, d), Response: resulttest.Spread(1000, d), Error: e}
	}
	run := results.FromRecord(results.Setting{Recipe: "lock", Form: "predecessor", Family: "recipe", Backend: resulttest.Native(), Clients: clients, Hold: time.Millisecond},
		&metrics.Record{
			Duration: 2 * time.Second, Rounds: 1000, Counts: metrics.Counts{Notifications: 1000, Reads: 3000, Writes: 2000, RPCs: 5000, Useful: 1000},
			Phases: []metrics.Phase{phase("acquire", 12*time.Millisecond, 0), phase("handoff", handoff, wrong), phase("release", time.Millisecond, 0)},
			Safety: metrics.Safety{Checked: 1000, Tokens: true},
		})
	lag := results.DistributionOf(resulttest.Spread(2000, 300*time.Microsecond))
	run.Agents = []results.Agent{
		{Name: "east", Host: "host1", Processors: 8, Sessions: clients / 2, ClockErrorNS: wrong / 2, ClockDriftPPM: -12.34,
			Generator: results.Generator{CPUCores: 0.31, RequestsPerS: 1250, Lag: lag}},
		{Name: "west\n", Host: "host2", Processors: 1, Sessions: clients - clients/2, ClockErrorNS: wrong / 2,
			Generator: results.Generator{CPUCores: 0.94, RequestsPerS: 1250}},
	}
	return run
}

// TestAgentsAreNamed has runs in which all hand-offs, or only the longest, take longer than twice their error.
func TestAgentsAreNamed(t *testing.T) {
	f := resulttest.FileOf(divided(8, 2*time.Millisecond, 60*time.Microsecond), divided(10_000, 2*time.Millisecond, 1500*time.Microsecond))
	wantText(t, f, render.Options{}, "agents.txt")
	tables := document.New(f).Tables
	got := tables[len(tables)-1]
	want := [][]string{
		{"east", "host1", "5\u202f000", "1\u202f250", "0.3 of 8 cores", "900 µs", "±750 µs", "−12.3 ppm"},
		{"west ", "host2", "5\u202f000", "1\u202f250", "0.9 of 1 core", "n/a", "±750 µs", "+0.0 ppm"},
	}
	if d := cmp.Diff(want, got.Rows); d != "" || got.Title != "agents: the largest value in any run" || len(got.Columns) != len(want[0]) {
		t.Errorf("%q with %d columns (-want +got):\n%s", got.Title, len(got.Columns), d)
	}
}

// TestALostAgentIsNamed has a run that lost an agent, and one that did not.
func TestALostAgentIsNamed(t *testing.T) {
	lost := divided(16, 2*time.Millisecond, 60*time.Microsecond)
	lost.Agents[1] = results.Agent{Name: "west", Host: "host2", Processors: 1, Sessions: 8, Lost: &results.AgentLoss{NoticedNS: 3 * time.Second}}
	w := results.WarningOf(metrics.Warning{Code: metrics.AgentLost, Names: metrics.Names{metrics.OfAgent: "west"},
		Numbers: metrics.Numbers{"noticed_ns": 3e9, "sessions": 8, "rounds": 340}})
	lost.Warnings, lost.Doubts = []results.Warning{w}, []results.Warning{w}
	lost.Cost.Expected = &results.Expected{Identities: []results.Identity{}, Invalid: metrics.AgentLost}
	whole := divided(8, 2*time.Millisecond, 60*time.Microsecond)
	whole.Cost.Expected = &results.Expected{Identities: []results.Identity{{Formula: "notifications = K", Left: 1, Right: 1, Holds: true}}}
	for name, f := range map[string]results.File{"lost_agent": resulttest.FileOf(lost), "lost_agent_later": resulttest.FileOf(whole, lost)} {
		wantText(t, f, render.Options{}, name+".txt")
	}
}
