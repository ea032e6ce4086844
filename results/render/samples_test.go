package render

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/levels"
	"github.com/stampede-bench/stampede/results/resulttest"
)

// began returns the start time of all samples.
func began() time.Time { return time.Date(2026, 11, 21, 9, 31, 5, 0, time.UTC) }

// took returns a distribution of n times around d, with the slowest 2 % at 3·d.
func took(n int64, d time.Duration) *results.Distribution {
	h := hdrhistogram.New(1, int64(time.Second), 2)
	slow := n / 50
	for v, times := range map[time.Duration]int64{d: n - slow, 3 * d: slow} {
		if err := h.RecordValues(int64(v), times); err != nil {
			panic(err)
		}
	}
	at := func(percent int64) *int64 {
		if n*(100-percent) < 1000 {
			return nil
		}
		v := h.ValueAtQuantile(float64(percent))
		return &v
	}
	text, err := h.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		panic(err)
	}
	return &results.Distribution{Min: h.Min(), Mean: h.Mean(), P50: at(50), P90: at(90), P99: at(99), Max: h.Max(), HDR: string(text)}
}

// lock returns a run with the given number of rounds in two seconds, in which each release woke the given
// number of clients.
func lock(form, family string, rounds int64, woken float64, handoff time.Duration) results.Run {
	return results.Run{
		Recipe: "lock", Form: form, Family: family, Clients: 8, Groups: 1, Loop: "closed", HoldNS: time.Millisecond,
		Backend: results.Backend{Name: "native", URL: "native:", Server: "native, as ZooKeeper 3.9.0", Durability: "memory",
			Client: "go-zookeeper", Reads: "local", Started: "own process"},
		WarmupNS: 200 * time.Millisecond, DurationNS: 2 * time.Second, Rounds: rounds, ThroughputPerS: float64(rounds) / 2,
		Phases: []string{"acquire", "handoff"},
		Latency: map[string]results.Latency{
			"acquire": {Count: rounds, Service: took(rounds, 8*handoff), Response: took(rounds, 8*handoff)},
			"handoff": {Count: rounds, Service: took(rounds, handoff)}, // the time when it was due is not recorded
		},
		Herd: results.Herd{Useful: rounds, Wasted: int64(woken-1) * rounds},
		Cost: results.Cost{PerRound: &results.PerRound{Notifications: woken, Reads: woken + 2, Writes: 2, RPCs: woken + 4},
			Expected: &results.Expected{Identities: []results.Identity{{Formula: "notifications = K − z", Left: 7, Right: 7, Holds: true}}}},
		Safety:   results.Safety{Checked: rounds, Tokens: true},
		Settings: map[string]string{"duration": "2s", "hold": "1ms", "ramp": "0s", "bin": "1ms"},
	}
}

func fileOf(runs ...results.Run) results.File {
	return results.File{Head: results.Head{Schema: results.Schema, ID: "20261121-093105-000000-lock", Started: began(), Took: 4 * time.Second, Seed: 42, Tool: results.Tool{Version: "v0.1.0", Commit: "abc", Go: "go1.26"}, Host: results.Host{OS: "linux", CPU: "Some CPU @ 2.5 GHz", Cores: 2}, Command: []string{"stampede", "run", "lock", "--clients", "8", "--seed", "42"}}, Runs: runs}
}

// both returns a file with the recipe and the naive form.
func both() results.File {
	return fileOf(lock("predecessor", "recipe", 1200, 1, 64*time.Microsecond), lock("one-node", "naive", 900, 7, 900*time.Microsecond))
}

// gated returns a file with a threshold that is met, one that is not, and one on a figure with too few
// observations.
func gated() results.File {
	f := both()
	at := func(v float64) *float64 { return &v }
	f.Gates = []results.Gate{
		{Text: "lock.handoff.p99<10ms", Subject: "lock/predecessor, 8 clients, native:", Run: 0, Figure: "handoff.response.p99", Unit: "ns",
			Measured: at(192e3), Limit: at(10e6), Verdict: results.Pass},
		{Text: "lock.notifications_per_round<=1", Subject: "lock/one-node, 8 clients, native:", Run: 1, Figure: "notifications_per_round", Unit: "/round",
			Measured: at(7), Limit: at(1), Verdict: results.Fail},
		{Text: "lock.acquire.p999<1s", Subject: "lock/one-node, 8 clients, native:", Run: 1, Figure: "acquire.response.p999", Unit: "ns",
			Limit: at(1e9), Verdict: results.Invalid, Why: "900 rounds are too few"},
		{Text: "queue.errors==0", Subject: "queue", Run: -1, Figure: "errors", Limit: at(0), Verdict: results.Invalid, Why: "no run of queue was done"},
	}
	f.Verdict = results.Fail
	return f
}

// odd returns a file in which all texts from users and servers contain characters that are special in some
// format.
func odd() results.File {
	f := both()
	f.Runs = f.Runs[1:]
	r := &f.Runs[0]
	r.Form, r.Backend.Server = "mine|<b>*_x_*", `"Zoo" & Co, 3 % ~~off~~`
	r.Warnings = []results.Warning{{Code: "cpu-client-bound", Text: "client-bound: 1.8 of 2 cores | <script> [x](y) `z` #1\n::error::no"}}
	f.Skipped = []string{"1. a, b: 100 % $x$ \\ ]]> \x01"}
	f.Command = append(f.Command, "--label", "it's `a` ``*test*``")
	return f
}

func violated() results.File {
	f := both()
	f.Runs[1].Safety.Violations = 3
	f.Runs[1].Safety.Details = []string{"client 4 was granted the lock while client 2 held it"}
	f.Runs[1].Cost.Expected.Identities[0] = results.Identity{Formula: "notifications = K − z", Left: 6300, Right: 6299}
	f.Runs[0].Safety.Checked = 0
	return f
}

// interrupted returns a file whose only run completed no round.
func interrupted() results.File {
	r := lock("predecessor", "recipe", 0, 1, time.Millisecond)
	r.Latency, r.Phases, r.Cost.PerRound, r.Cost.Expected = map[string]results.Latency{}, nil, nil, nil
	f := fileOf(r)
	f.Interrupted = true
	return f
}

func empty() results.File { return fileOf() }

func swept() results.Sweep {
	var runs []results.Run
	for range 2 {
		for _, clients := range []int{2, 8} {
			for _, r := range both().Runs {
				r.Clients = clients
				runs = append(runs, r)
			}
		}
	}
	s := results.Sweep{File: fileOf(runs...), Axes: []string{"clients"}, Repeat: 2, WorseBy: 2, Planned: 8}
	s.Kind, s.Command = results.KindSweep, []string{"stampede", "sweep", "lock", "--clients", "2,8", "--repeat", "2", "--seed", "42"}
	levels.Analyse(&s)
	return s
}

// counted returns a report in which the naive form does not match the model.
func counted() results.CountReport {
	exact := func(n, expected int64, formula string) results.Exact {
		return results.Exact{Counted: n, Expected: &expected, Formula: formula, Server: &n}
	}
	other := int64(9)
	row := results.Settled{Recipe: "lock", Form: "one-node", Family: "naive", Clients: 8, Rounds: 8, Backend: both().Runs[0].Backend,
		Notifications: exact(29, 28, "N(N−1)/2"), Reads: exact(28, 28, "N(N−1)/2"), Writes: exact(44, 44, "N(N+3)/2"),
		FailedWrites: results.Exact{Counted: 28}, LargestFanout: exact(7, 7, "N−1"), Safety: results.Safety{Checked: 8}}
	row.Reads.Server = &other
	return results.CountReport{Head: results.Head{Schema: results.Schema, Kind: results.KindCount, Started: began()}, Settled: []results.Settled{row}}
}

// compared returns a comparison with one regression and one inconclusive figure.
func compared() results.Comparison {
	p, power, detectable := 0.002, 0.997, 0.034
	base, slower := both().Runs[0], lock("predecessor", "recipe", 1000, 1, 80*time.Microsecond)
	return results.Comparison{Head: results.Head{Schema: results.Schema, Kind: results.KindComparison, ID: "20261121-093105-000000-ab", Started: began(), Seed: 42, Command: []string{"stampede", "ab", "native:", "native:?slow=1"}}, Paired: true, Planned: 1, Calibrated: "20 pairs, 3 days old", Base: results.Variant{Label: "native:", Runs: []results.Run{base}}, New: results.Variant{Label: "native:?slow=1", Runs: []results.Run{slower}}, Changes: []results.Change{
		{Subject: "lock, 8 clients", Figure: "rounds_per_s", Unit: "/s", Gated: true, Base: 600, New: 500, Minimum: 0.05, P: &p, Adjusted: &p, Floor: 0.021, Detectable: &detectable, Power: &power,
			Effect: &results.Estimate{Value: -0.167, Low: -0.19, High: -0.15, Confidence: 0.95}, Verdict: results.Regression},
		{Subject: "lock, 8 clients", Figure: "handoff.response.p99", Unit: "ns", Gated: true, Base: 192e3, New: 240e3, Minimum: 0.081,
			Verdict: results.Inconclusive, Why: "fewer than 6 pairs"},
		{Subject: "lock, 8 clients", Figure: "fairness.jain", Unit: "share", Base: 1, New: 0.99, Verdict: results.Pass},
	}, Warnings: []results.Warning{{Code: results.DifferentSettings, Text: "not the same client"}}, Verdict: results.Regression}
}

// onDisk returns a service that differs from that of the samples in the query of its URL and in its durability.
func onDisk() drivers.Info {
	on := resulttest.Native()
	on.URL, on.Durability = "native:?durability=fsync", "fsync"
	return on
}
