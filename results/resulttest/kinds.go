package resulttest

import (
	"fmt"
	"time"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/levels"
	"github.com/stampede-bench/stampede/results/stats"
)

// repeats is the number of runs at each level of a sweep.
const repeats = 3

// Sweep returns a sweep of the lock with 2 to 64 clients, in both forms.
func Sweep() results.Sweep {
	f := file("stampede", "sweep", "lock", "--clients", "2..64")
	for range repeats {
		for n := 2; n <= 64; n *= 2 {
			f.Runs = append(f.Runs, OneNode(n), Predecessor(n))
		}
	}
	return analysed(f, "clients")
}

// Scaling returns a sweep of a mix with 1 to 64 clients that follows the Universal Scalability Law.
func Scaling() results.Sweep {
	f := file("stampede", "sweep", "mix", "--clients", "1..64")
	law := stats.USL{Alpha: 0.03, Beta: 0.0006, Gamma: 4000}
	for i := range repeats {
		for n := 1; n <= 64; n *= 2 {
			f.Runs = append(f.Runs, mix(n, 0.9, law.Value(float64(n))*(1+0.02*float64(i))))
		}
	}
	return analysed(f, "clients")
}

// Reads returns a sweep of a mix over the share of reads. A level without reads, or without writes, has
// no latency for them.
func Reads() results.Sweep {
	f := file("stampede", "sweep", "mix", "--reads", "0..1")
	for range repeats {
		for _, share := range []float64{0, 0.25, 0.5, 0.75, 1} {
			f.Runs = append(f.Runs, mix(16, share, 20000+30000*share))
		}
	}
	return analysed(f, "reads")
}

func mix(clients int, reads, rate float64) results.Run {
	r := &metrics.Record{Duration: time.Second, Rounds: int64(rate), Safety: metrics.Safety{Checked: int64(rate)}, Mix: &metrics.Mix{Reads: int64(reads * rate), Writes: int64((1 - reads) * rate)}}
	r.Phases = []metrics.Phase{
		{Name: "read", Service: Times(int(reads*rate), 100*time.Microsecond)},
		{Name: "write", Service: Times(int((1-reads)*rate), 300*time.Microsecond)},
	}
	run := results.FromRecord(results.Setting{Recipe: "mix", Form: "operations", Family: "load", Clients: clients, Groups: 1, Reads: reads,
		Mix: &results.Mix{Keys: 1000, KeysBy: "uniform", SizeBytes: 1000}, Settings: map[string]string{"reads": fmt.Sprint(reads)}}, r)
	run.Backend = results.Backend{Name: "native", URL: "native:", Server: "native, as ZooKeeper 3.9.0"}
	return run
}

func analysed(f results.File, axis string) results.Sweep {
	f.Kind = results.KindSweep
	s := results.Sweep{File: f, Axes: []string{axis}, Repeat: repeats, WorseBy: 2, Planned: len(f.Runs)}
	levels.Analyse(&s)
	return s
}

// Count returns counts of the lock at rest with 4, 8 and 16 clients, as the model expects them.
func Count() results.CountReport {
	r := results.CountReport{Head: results.Head{Schema: results.Schema, Kind: results.KindCount, Started: started(), Tool: results.Tool{Version: "1.0", Go: "go1.26"}}}
	exact := func(n int64, formula string) results.Exact {
		return results.Exact{Counted: n, Expected: &n, Formula: formula, Server: &n}
	}
	for _, n := range []int64{4, 8, 16} {
		row := results.Settled{Recipe: "lock", Clients: int(n), Rounds: n, Safety: results.Safety{Checked: n}, Backend: results.Backend{Name: "native", URL: "native:", Server: "native, as ZooKeeper 3.9.0"}}
		row.Form, row.Family, row.Notifications, row.LargestFanout = "predecessor", "recipe", exact(n-1, "N−1"), exact(1, "1")
		row.Reads, row.Writes = exact(3*n-2, "3N−2"), exact(2*n, "2N")
		r.Settled = append(r.Settled, row)
		row.Form, row.Family, row.Notifications, row.LargestFanout = "one-node", "naive", exact(n*(n-1)/2, "N(N−1)/2"), exact(n-1, "N−1")
		row.Reads, row.Writes = exact(n*(n-1)/2, "N(N−1)/2"), exact(n*(n+3)/2, "N(N+3)/2")
		r.Settled = append(r.Settled, row)
	}
	return r
}

// Comparison returns a comparison of ten pairs, with figures that are better, pass, inconclusive and a
// regression.
func Comparison() results.Comparison {
	c := results.Comparison{
		Head: results.Head{Schema: results.Schema, Kind: results.KindComparison, ID: "20261121-093105-000000-ab-lock", Started: started(), Took: time.Minute,
			Command: []string{"stampede", "ab", "go-zookeeper", "lean"}},
		Paired: true, Planned: 10, Verdict: results.Regression,
		Base: results.Variant{Label: "go-zookeeper", Runs: []results.Run{Predecessor(32)}}, New: results.Variant{Label: "lean", Runs: []results.Run{Predecessor(32)}},
		Warnings: []results.Warning{{Code: results.DifferentSettings, Text: "not the same client (go-zookeeper, lean)"}},
	}
	for _, ch := range []struct {
		figure, unit  string
		base, effect  float64
		half, minimum float64
		verdict       results.Verdict
	}{
		{"rounds_per_s", "/s", 870, 0.41, 0.04, 0.05, results.Improvement},
		{"acquire.response.p99", "ns", 149e6, 0.019, 0.03, 0.08, results.Pass},
		{"handoff.response.p99", "ns", 210e3, 0.06, 0.09, 0.08, results.Inconclusive},
		{"release.response.p99", "ns", 64e3, 0.24, 0.05, 0.08, results.Regression},
	} {
		p := 0.002
		change := results.Change{Figure: ch.figure, Unit: ch.unit, Gated: true, Base: ch.base, New: ch.base * (1 + ch.effect), P: &p, Minimum: ch.minimum, Verdict: ch.verdict,
			Effect: &results.Estimate{Value: ch.effect, Low: ch.effect - ch.half, High: ch.effect + ch.half, Confidence: 0.95}}
		for i := range c.Planned {
			change.Ratios = append(change.Ratios, 1+ch.effect+ch.half*(float64(i)-4.5)/3)
		}
		c.Changes = append(c.Changes, change)
	}
	return c
}
