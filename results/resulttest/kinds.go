package resulttest

import (
	"fmt"
	"time"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/metrics/causality"
	"github.com/stampede-bench/stampede/metrics/observation"
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

// CountRow returns a row whose counts match the model.
func CountRow(form string, clients int, notifications, reads, writes, failed, largest int64) results.Settled {
	exact := func(n int64, formula string) results.Exact {
		return results.Exact{Counted: n, Expected: &n, Formula: formula, Server: &n}
	}
	s := results.Settled{
		Recipe: "lock", Form: form, Clients: clients, Rounds: int64(clients), Backend: results.Backend{Name: "native", URL: "native:", Server: "ZooKeeper 3.8.0"},
		Notifications: exact(notifications, "n"), Reads: exact(reads, "r"), Writes: exact(writes, "w"),
		FailedWrites: exact(failed, "f"), LargestFanout: exact(largest, "p"),
		Safety: results.Safety{Checked: int64(clients)},
	}
	s.FailedWrites.Server = nil
	return s
}

func OneNodeCount(n int64) results.Settled {
	return CountRow("one-node", int(n), n*(n-1)/2, n*(n-1)/2, n*(n+3)/2, n*(n-1)/2, n-1)
}

func PredecessorCount(n int64) results.Settled {
	return CountRow("predecessor", int(n), n-1, 3*n-2, 2*n, 0, 1)
}

func CountOf(rows ...results.Settled) results.CountReport {
	return results.CountReport{Head: results.NewHead(results.KindCount, results.Tool{}, nil, nil, 0), Settled: rows}
}

// History returns a history with a figure of each sort: one that became worse in a step, one that became
// better in a drift, a count that was 0 before, one whose change was accepted, one that did not change, and
// one with too few results.
func History() results.History {
	const form, machine = "lock/predecessor on native:, 8 clients", "2 × Some CPU, linux"
	size := func(share float64) *float64 { return &share }
	trend := func(figure, unit, of string, exact bool, values ...float64) results.Trend {
		t := results.Trend{Figure: figure, About: figure + " in words", Unit: unit, Of: of, Machine: machine, Exact: exact, Changes: []results.TrendChange{}}
		for i, v := range values {
			t.Points = append(t.Points, results.TrendPoint{Result: fmt.Sprint("r", i+1), Started: time.Date(2026, 11, 1+i, 10, 0, 0, 0, time.UTC),
				Marks: results.Marks{Subject: fmt.Sprintf("c0ffee%d", i), Tags: map[string]string{"branch": "main"}}, Value: v})
		}
		return t
	}
	slower := trend("rounds_per_s", "/s", form, false, 1010, 990, 1005, 995, 1000, 900, 910, 890, 905, 895)
	slower.Changes = []results.TrendChange{{At: 5, To: 5, Seen: 10, Before: 1000, After: 900, Size: size(-0.1), Verdict: results.Regression}}
	faster := trend("handoff.response.p50", "ns", form, false, 250e3, 250e3, 250e3, 245e3, 240e3, 235e3, 230e3, 225e3, 225e3, 225e3)
	faster.Changes = []results.TrendChange{{Drift: true, At: 3, To: 7, Seen: 10, Before: 250e3, After: 225e3, Size: size(-0.1), Verdict: results.Improvement}}
	herd := trend("whole.notifications_per_round", "", form, true, 0, 0, 1, 1)
	herd.Changes = []results.TrendChange{{At: 2, To: 2, Seen: 3, Before: 0, After: 1, Verdict: results.Regression}}
	meant := trend("whole.writes_per_round", "", form, true, 2, 2, 3, 3)
	meant.Changes = []results.TrendChange{{At: 2, To: 2, Seen: 3, Before: 2, After: 3, Size: size(0.5), Verdict: results.Pass, Reason: "an epoch is written too"}}
	same := trend("count.reads", "", "count: lock/one-node on native:, 8 clients", true, 28, 28)
	same.Machine = "any machine"
	few := trend("rounds_per_s", "/s", "lock/one-node on native:, 8 clients", false, 870)
	few.Needed = 10
	return results.History{Head: results.Head{Schema: results.Schema, Kind: results.KindHistory}, Made: time.Date(2026, 11, 24, 0, 0, 0, 0, time.UTC), Results: 10,
		Verdict: results.Regression, Figures: []results.Trend{slower, faster, herd, meant, same, few}}
}

// Observation returns an observation of a lock on one node and of a queue, with a threshold that is not met
// and a projection.
func Observation() results.Observation {
	count := func(n int64) *int64 { return &n }
	measured, limit := 23.0, 5.0
	o := results.Observation{
		Head:    results.Head{Schema: results.Schema, Kind: results.KindObservation, ID: "20261121-093105-000000-observe", Started: started()},
		Backend: "zookeeper://zk1:2181", Source: "proxy", Projected: 1000, Verdict: results.Fail,
		Gates: []results.Gate{{Text: "/controller: fanout.max <= 5", Run: -1, Subject: "/controller", Figure: "fanout.max", Op: "<=",
			Measured: &measured, Limit: &limit, Verdict: results.Fail}}}
	o.Observed = observation.Report{
		Duration: 41 * time.Second,
		Traffic:  observation.Traffic{Clients: 3, Sessions: 24, Requests: 18203, Changes: 46, FanoutP50: 1, FanoutMax: 23},
		Places: []observation.Place{
			{
				Path: "/controller", Sessions: 24, Changes: 6, FanoutP50: 23, FanoutMax: 23, Notifications: 138,
				Useful: count(6), Wasted: count(132), ReadsAfter: 138, LostAfter: 132, SettledP90: count(84e6),
				Form: &observation.Form{
					Name: "lock or election, one node", Forms: []string{"lock/one-node"}, Herd: true, Instead: "predecessor", Wakes: 1,
					Evidence: "24 sessions watch the node and race to create it: 132 of 138 creates failed",
				},
			},
			{Path: "/locks/#/lock-#", Sessions: 20, Changes: 40, FanoutP50: 1, FanoutMax: 1, Notifications: 40, Useful: count(40), Wasted: count(0)},
		},
		Largest: []observation.Change{{Op: "delete", Writer: "10.0.0.7:4711", Path: "/controller", Woke: 23, Waited: 22, Reads: 23, Lost: 22, Settled: 84 * time.Millisecond}},
		Events: causality.Events{Count: 46, Notifications: 178, NotificationsP50: 1, NotificationsMax: 27,
			Requests: 17983, RequestsP50: 2, RequestsMax: 156, AtRest: 220, AtRestPerS: 220 / 41.0,
			Largest: []causality.Event{{Op: "expire", Paths: []string{"/controller", "/brokers/#"}, Times: 6,
				Changes: 7, Notifications: 27, Woke: 23, Requests: 156, Reads: 143, Writes: 13, FailedWrites: 3,
				Lasted: 1280 * time.Millisecond, Several: true}}},
		Operations: []observation.Operation{{Name: "create", Requests: 140, P50: count(5e5), P99: count(2e6)}},
	}
	return o
}

// Calibration returns the noise of two figures of the lock.
func Calibration() results.Calibration {
	return results.Calibration{
		Head: results.Head{Schema: results.Schema, Kind: results.KindCalibration, Started: started(), Seed: 42, Took: 48 * time.Second,
			Command: []string{"stampede", "calibrate"}},
		Pairs:    20,
		Warnings: []results.Warning{{Code: "cpu-stolen", Text: "CPU steal 6 %"}},
		Settings: []results.Noise{{Setting: "lock --backend native: --form predecessor --clients 8", Figures: []results.FigureNoise{
			{Figure: "rounds_per_s", Unit: "/s", Shown: true, Median: 546, One: 0.081, Ten: 0.031, Twenty: 0.022},
			{Figure: "handoff.response.p50", Unit: "ns", Shown: true, Median: 4e5, One: 0.22, Ten: 0.108, Twenty: 0.069},
			{Figure: "errors", One: 9, Ten: 9, Twenty: 9},
		}}}}
}

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
