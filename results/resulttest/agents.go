package resulttest

import (
	"time"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
)

// Divided returns Lock as divided among three agents, two of which were short of processor time in the last
// run: each is named by its warning.
func Divided() results.File {
	f := Lock()
	for i := range f.Runs {
		r := &f.Runs[i]
		r.Agents = []results.Agent{
			agent("rack1-node07", "node07.rack1.example.org", r.Clients/3, 0.31, 900*time.Microsecond, 38_200, -12.34),
			agent("rack1-node08", "node08.rack1.example.org", r.Clients/3, 0.29, 28*time.Millisecond, 41_900, 3.1),
			agent("rack2-node01", "node01.rack2.example.org", r.Clients-2*(r.Clients/3), 1.94, 31*time.Millisecond, 612_000, 88.8),
		}
	}
	last := &f.Runs[len(f.Runs)-1]
	for _, a := range last.Agents[1:] {
		w := results.WarningOf(metrics.Warning{
			Code: metrics.Starved, Numbers: metrics.Numbers{"late_p99_ns": float64(*a.Generator.Lag.P99), "phase_p99_ns": 52e6},
			Names: metrics.Names{"phase": "acquire", metrics.OfAgent: a.Name},
		})
		last.Warnings, last.Doubts = append(last.Warnings, w), append(last.Doubts, w)
	}
	return f
}

// agent returns an agent on a machine with two cores.
func agent(name, host string, sessions int, cores float64, late, clock time.Duration, drift float64) results.Agent {
	return results.Agent{
		Name: name, Host: host, Processors: 2, Sessions: sessions, ClockErrorNS: clock, ClockDriftPPM: drift,
		Generator: results.Generator{CPUCores: cores, RequestsPerS: 57 * float64(sessions), Lag: results.DistributionOf(Spread(2000, late/3))},
	}
}
