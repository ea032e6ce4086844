package resulttest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/levels"
	"github.com/stampede-bench/stampede/results/stats"
)

// SweepOf returns a sweep over the runs, analysed.
func SweepOf(runs ...results.Run) results.Sweep {
	f := FileOf(runs...)
	f.Command = []string{"stampede", "sweep", "lock", "--clients", "2..128", "--seed", "42"}
	f.Kind = results.KindSweep
	s := results.Sweep{File: f, Axes: []string{"clients"}, Repeat: 3, WorseBy: 2, Planned: len(runs)}
	levels.Analyse(&s)
	return s
}

// HerdRuns returns three repetitions of both forms of one lock: the recipe is flat; the naive form wakes
// all waiting clients, and its hand-off takes longer the more there are.
func HerdRuns() (runs []results.Run) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 3 {
		for n := 2; n <= 128; n *= 2 {
			about := func(d float64) time.Duration { return time.Duration(d * (1 + 0.03*random.NormFloat64())) }
			calm := about(100e3)
			crowd := float64(n)
			herd := about(80e3 + 20e3*crowd)
			runs = append(runs,
				Sample{"predecessor", "recipe", n, 4000, 0.999, 3, 2, calm, 3 * calm, 1, 0}.Run(Native()),
				Sample{"one-node", "naive", n, 4000, crowd - 1, crowd - 1, crowd + 1, herd, 3 * herd, int64(n - 1), 0.9}.Run(Native()))
		}
	}
	return runs
}

// ScalingRuns returns runs of both forms of 16 locks: the recipe scales up to a knee at 49 clients, and the
// naive form scales as far as it was measured.
func ScalingRuns() (runs []results.Run) {
	random := rand.New(rand.NewPCG(3, 4))
	laws := map[string]stats.USL{"recipe": {Alpha: 0.03, Beta: 0.0004, Gamma: 400}, "naive": {Alpha: 0.05, Gamma: 300}}
	for range 3 {
		for n := 16; n <= 256; n *= 2 {
			for _, of := range []Sample{{Form: "predecessor", Family: "recipe", Clients: n}, {Form: "one-node", Family: "naive", Clients: n}} {
				of.Rounds = int64(5 * laws[of.Family].Value(float64(n)) * math.Exp(0.02*random.NormFloat64()))
				of.Notif, of.Reads, of.Writes, of.Handoff, of.Acquire = 1, 3, 2, time.Millisecond, 3*time.Millisecond
				r := of.Run(Native())
				r.Groups, r.HoldNS = 16, 0
				runs = append(runs, r)
			}
		}
	}
	return runs
}

// Searched returns a search for a rate.
func Searched() results.Sweep {
	var runs []results.Run
	for _, of := range []struct {
		rate string
		of   Sample
	}{
		{"2400", Sample{"predecessor", "recipe", 64, 12000, 0.5, 2, 2, time.Millisecond, 2 * time.Millisecond, 1, 0}},
		{"2520", Sample{"predecessor", "recipe", 64, 12100, 0.9, 3, 2, time.Millisecond, 20 * time.Millisecond, 1, 0}},
		{"310", Sample{"one-node", "naive", 64, 1550, 4, 5, 6, time.Millisecond, 4 * time.Millisecond, 40, 0.7}},
	} {
		r := of.of.Run(Native())
		r.Settings = map[string]string{"rate": of.rate}
		r.Loop, r.Open, r.Groups = "open", &results.Open{Rate: of.rate, Arrival: "constant"}, 16
		r.OfferedPerS, r.Generator.Offered = float64(of.of.Rounds)/5, of.of.Rounds
		runs = append(runs, r)
	}
	runs[1].Generator.Late, runs[1].Generator.Skipped = 500, 500
	runs[1].Warnings = []results.Warning{results.WarningOf(metrics.Warning{Code: metrics.Skipped, Numbers: metrics.Numbers{"skipped": 500, "offered": 12_100}})}
	s := SweepOf(runs...)
	s.Axes, s.Objective, s.Planned = []string{"rate"}, "acquire.response.p99<50ms", 0
	s.Capacities = []results.Capacity{
		{Recipe: "lock", Form: "one-node", Family: "naive", URL: "native:", Clients: 64, Groups: 16, Level: 310, Held: results.Trials{Met: 3, Of: 3}, Confidence: 1},
		{Recipe: "lock", Form: "predecessor", Family: "recipe", URL: "native:", Clients: 64, Groups: 16, Level: 2400, Held: results.Trials{Met: 4, Of: 4}, Confidence: 0.973,
			Next: 2520, After: results.Trials{Met: 0, Of: 2}, Why: "500 of 12\u202f100 arrivals were not served"},
	}
	levels.Analyse(&s)
	return s
}

// Undecided returns a search whose lowest level was measured five times, of which four runs were short of CPU
// and so could not tell.
func Undecided() results.Sweep {
	s := Searched()
	s.Runs = s.Runs[:1]
	for range 4 {
		r := s.Runs[0]
		r.Warnings = []results.Warning{
			results.WarningOf(metrics.Warning{Code: metrics.Stolen, Numbers: metrics.Numbers{"stolen_cores": 1, "machine_cores": 2}}),
			results.WarningOf(metrics.Warning{Code: metrics.Stalled, Names: metrics.Names{"phase": "acquire"}, Numbers: metrics.Numbers{"longest_ns": 2e9, "typical_ns": 1e6}}),
			results.WarningOf(metrics.Warning{Code: metrics.Stalled, Names: metrics.Names{"phase": "handoff"}, Numbers: metrics.Numbers{"longest_ns": 1e9, "typical_ns": 1e6}}),
		}
		r.Doubts = r.Warnings[:1]
		s.Runs = append(s.Runs, r)
	}
	s.Capacities = []results.Capacity{{Recipe: "lock", Form: "predecessor", Family: "recipe", URL: "native:", Clients: 64, Groups: 16,
		Next: 2400, After: results.Trials{Met: 1, Of: 1}, Why: s.Runs[1].Doubts[0].Text, Undecided: true}}
	levels.Analyse(&s)
	return s
}

// MixedReads returns three repetitions of a mix at several shares of reads; it is faster the more it
// reads. If all or none of the operations are reads, the other phase is missing.
func MixedReads(bytes ...int) (runs []results.Run) {
	for repetition := range int64(3) {
		for _, size := range bytes {
			for _, reads := range []float64{0, 0.5, 1} {
				all := int64(60_000*(1+2*reads)) + 500*repetition
				read := int64(reads * float64(all))
				took := time.Duration(2-reads) * time.Millisecond
				r := results.FromRecord(results.Setting{Recipe: "mix", Form: "operations", Family: "load", Backend: Native(), Clients: 64,
					Mix: &results.Mix{Keys: 1000, KeysBy: "uniform", SizeBytes: size}, Reads: reads,
					Settings: map[string]string{"reads": fmt.Sprint(reads), "size": fmt.Sprint(size)}},
					&metrics.Record{Duration: 5 * time.Second, Rounds: all, Phases: mixPhases(read, all-read, took),
						Mix: &metrics.Mix{Reads: read, Writes: all - read}, Safety: metrics.Safety{Checked: all}})
				runs = append(runs, r)
			}
		}
	}
	return runs
}

func mixPhases(reads, writes int64, took time.Duration) (phases []metrics.Phase) {
	for name, n := range map[string]int64{"read": reads, "write": writes} {
		if n > 0 {
			phases = append(phases, metrics.Phase{Name: name, Service: Spread(n, took)})
		}
	}
	slices.SortFunc(phases, func(a, b metrics.Phase) int { return strings.Compare(a.Name, b.Name) })
	return phases
}

// MixSweep returns a sweep of a mix over the axes.
func MixSweep(runs []results.Run, axes ...string) results.Sweep {
	s := SweepOf(runs...)
	s.Command, s.Axes = []string{"stampede", "sweep", "mix", "--seed", "42"}, axes
	levels.Analyse(&s)
	return s
}
