package resulttest

import (
	"math"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
)

// started returns the start time of all results.
func started() time.Time { return time.Date(2026, 11, 21, 9, 31, 5, 0, time.UTC) }

// Lock returns a file of runs of the lock with 2, 8, 32 and 128 clients, in the recipe and the naive form.
func Lock() results.File {
	f := file("stampede", "run", "lock", "--seed", "42")
	for _, n := range []int{2, 8, 32, 128} {
		f.Runs = append(f.Runs, Predecessor(n), OneNode(n))
	}
	return f
}

// Gated returns Lock with thresholds that failed, passed and are invalid, and a warning.
func Gated() results.File {
	f := Lock()
	ms := func(v float64) *float64 { v *= 1e6; return &v }
	one := 1.0
	f.Gates = []results.Gate{
		{Text: "lock.acquire.response.p99<50ms", Subject: "lock/predecessor, 128 clients", Run: 6, Figure: "acquire.response.p99", Unit: "ns", Measured: ms(149), Limit: ms(50), Verdict: results.Fail},
		{Text: "lock.notifications_per_round<=1", Subject: "lock/predecessor, 128 clients", Run: 6, Figure: "notifications_per_round", Unit: "/round", Measured: &one, Limit: &one, Verdict: results.Pass},
		{Text: "predecessor.handoff.p999 < 0.5 * one-node.handoff.p999", Subject: "lock/predecessor, 128 clients", Run: 6, Figure: "handoff.response.p999", Unit: "ns", Verdict: results.Invalid, Why: "too few rounds"},
	}
	f.Verdict = results.Fail
	f.Runs[7].Warnings = []results.Warning{{Code: "cpu-client-bound", Text: "the clients kept <all> cores busy & may be what was measured"}}
	return f
}

// Predecessor returns a run of the recipe.
func Predecessor(clients int) results.Run {
	return run("predecessor", "recipe", clients, 1, 1, 900-float64(clients)/4, 60*time.Microsecond)
}

// OneNode returns a run of the naive form. Its notifications fall below the model as the number of clients
// grows, as they do on a machine that cannot keep up.
func OneNode(clients int) results.Run {
	woken := float64(clients - 1)
	return run("one-node", "naive", clients, woken, math.Pow(woken, 0.98), 900-2*float64(clients), 60*time.Microsecond*time.Duration(clients))
}

func file(command ...string) results.File {
	return results.File{
		Head: results.Head{Schema: results.Schema, Kind: results.KindRun, ID: "20261121-093105-000000-lock", Started: started(),
			Took: 16400 * time.Millisecond, Tool: results.Tool{Version: "1.0", Commit: "abc1234", Go: "go1.26"},
			Host:    results.Host{OS: "linux", Kernel: "6.1", CPU: "A Processor", Cores: 2, MemoryBytes: 8 << 30},
			Command: command, Seed: 42},
		Runs: []results.Run{},
	}
}

// run returns a run of 4,000 rounds. The argument woken is the number of notifications per round that the
// model expects, and notifications is the measured number.
func run(form, family string, clients int, woken, notifications, rate float64, handoff time.Duration) results.Run {
	const rounds = 4000
	took := time.Duration(rounds / rate * float64(time.Second))
	total := int64(notifications * rounds)
	record := &metrics.Record{
		Duration: took, Rounds: rounds, WholeRounds: rounds,
		Counts: metrics.Counts{Notifications: total, Reads: total + rounds, Writes: 2 * rounds, Useful: rounds, Wasted: max(0, total-rounds)},
		Phases: []metrics.Phase{
			{Name: "acquire", Service: Times(rounds, handoff*time.Duration(clients))},
			{Name: "handoff", Service: Times(rounds, handoff)},
		},
		Safety: metrics.Safety{Checked: rounds},
	}
	record.Herd.Timeline = timeline(notifications)
	for i := range 8 {
		slice := took / 8
		record.Intervals = append(record.Intervals, metrics.Interval{Start: time.Duration(i) * slice, Rounds: rounds/8 + int64(i), P50: handoff, P99: 3 * handoff, Notifications: total / 8})
	}
	r := results.FromRecord(results.Setting{
		Recipe: "lock", Form: form, Family: family, Clients: clients, Groups: 1, Hold: time.Millisecond,
		Expected: &results.Expected{Identities: []results.Identity{{Formula: "notifications = K", Left: total, Right: total, Holds: true}}, NotificationsPerRound: &woken},
	}, record)
	r.Backend = results.Backend{Name: "native", URL: "native:", Server: "native, as ZooKeeper 3.9.0", Durability: "memory", Client: "go-zookeeper", Reads: "local", Started: "own process"}
	return r
}

// Times returns a histogram of n times around a median, with a long tail.
func Times(n int, median time.Duration) *hdrhistogram.Histogram {
	h := hdrhistogram.New(1, int64(time.Hour), 2)
	for i := range n {
		p := (float64(i) + 0.5) / float64(n)
		h.RecordValue(int64(float64(median) * math.Pow(p/(1-p), 0.4))) // within the histogram's range
	}
	return h
}

func timeline(notifications float64) metrics.Timeline {
	const triggers = 100
	l := metrics.Timeline{Bin: 200 * time.Microsecond, From: -2 * time.Millisecond, Triggers: triggers}
	for i := range 5 {
		l.Notifications[10+i] = int64(triggers * notifications / 5)
		l.Reads[12+i] = int64(triggers * notifications / 5)
	}
	return l
}
