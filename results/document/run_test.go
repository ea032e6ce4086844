package document_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/internal/golden"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/render"
	"github.com/stampede-bench/stampede/results/resulttest"
)

// converging returns a run of a recipe whose changes wake 7.5 clients, some of them by several notifications.
func converging(recipe string, s resulttest.Sample) results.Run {
	r := s.Run(resulttest.Native())
	r.Recipe, r.Phases, r.Latency = recipe, []string{"converge"}, map[string]results.Latency{"converge": r.Latency["handoff"]}
	r.Herd.Triggers, r.Herd.Fanout.Mean = s.Rounds, 7.5
	r.Cost.Expected.Identities = nil
	return r
}

// The golden files are what people see; read one before you accept a new version.
func TestTable(t *testing.T) {
	few := resulttest.Sample{Form: "predecessor", Family: "recipe", Clients: 8, Rounds: 15, Notif: 1, Reads: 3, Writes: 2, Handoff: time.Millisecond, Acquire: 20 * time.Millisecond, Fanout: 1, Wasted: 0}
	fewNaive := resulttest.Sample{Form: "one-node", Family: "naive", Clients: 8, Rounds: 12, Notif: 5.5, Reads: 5.5, Writes: 9, Handoff: 2 * time.Millisecond, Acquire: 22 * time.Millisecond, Fanout: 7, Wasted: 0.82}
	zookeeper := drivers.Info{Name: "zookeeper", URL: "zookeeper:", Server: "ZooKeeper 3.8.0", Durability: "fsync",
		Client: "go-zookeeper", Reads: "local", Started: "own process"}
	remote := drivers.Info{Name: "etcd", URL: "etcd://h", Server: "etcd 3.6.1", Durability: "unknown", Client: "clientv3", Reads: "linearizable"}
	tests := map[string]func() (results.File, render.Options){
		"herd": func() (results.File, render.Options) {
			return resulttest.FileOf(resulttest.Herding(resulttest.Native())...), render.Options{Saved: "20261121-0931-lock.json"}
		},
		"fanout": func() (results.File, render.Options) {
			return resulttest.FileOf(resulttest.FannedOut("one-shot", 50, 0, nil, 900*time.Microsecond), resulttest.FannedOut("persistent", 50, 0, nil, 800*time.Microsecond),
				resulttest.FannedOut("one-shot", 5000, 0, nil, 84*time.Millisecond), resulttest.FannedOut("persistent", 5000, 0, nil, 80*time.Millisecond)), render.Options{}
		},
		"fanout-open": func() (results.File, render.Options) {
			return resulttest.FileOf(resulttest.FannedOut("one-shot", 5000, 100_000, &results.Open{Rate: "400", Arrival: "constant"}, 84*time.Millisecond)), render.Options{}
		},
		"bold": func() (results.File, render.Options) {
			return resulttest.FileOf(resulttest.Herding(resulttest.Native())[2:]...), render.Options{Color: true}
		},
		"violated": func() (results.File, render.Options) {
			runs := resulttest.Herding(resulttest.Native())[2:]
			runs[1].Safety.Violations = 3
			runs[1].Safety.Details = []string{"client 4 was granted the lock while client 9 held it"}
			return resulttest.FileOf(runs...), render.Options{}
		},
		"recipe alone": func() (results.File, render.Options) {
			return resulttest.FileOf(resulttest.Herding(resulttest.Native())[2]), render.Options{}
		},
		"naive alone": func() (results.File, render.Options) {
			return resulttest.FileOf(resulttest.Herding(resulttest.Native())[3]), render.Options{}
		},
		"naive without rounds": func() (results.File, render.Options) {
			none := resulttest.Sample{Form: "one-node", Family: "naive", Clients: 128}
			return resulttest.FileOf(resulttest.Herding(resulttest.Native())[2], none.Run(resulttest.Native())), render.Options{}
		},
		"naive elsewhere": func() (results.File, render.Options) {
			runs := resulttest.Herding(resulttest.Native())
			return resulttest.FileOf(runs[1], runs[2]), render.Options{}
		},
		"too few rounds": func() (results.File, render.Options) {
			return resulttest.FileOf(few.Run(resulttest.Native()), fewNaive.Run(resulttest.Native())), render.Options{}
		},
		"no rounds": func() (results.File, render.Options) {
			none := resulttest.Sample{Form: "predecessor", Family: "recipe", Clients: 8}
			f := resulttest.FileOf(none.Run(resulttest.Native()))
			f.Interrupted = true
			return f, render.Options{}
		},
		"no run": func() (results.File, render.Options) {
			f := resulttest.FileOf()
			f.Interrupted = true
			return f, render.Options{}
		},
		"interrupted": func() (results.File, render.Options) {
			f := resulttest.FileOf(resulttest.Herding(resulttest.Native())[:3]...)
			f.Interrupted = true
			return f, render.Options{Saved: "lock.json"}
		},
		"two backends": func() (results.File, render.Options) {
			runs := append(resulttest.Herding(resulttest.Native())[2:], resulttest.Herding(zookeeper)[2:]...)
			// In the second case the naive form wakes as many clients, and is not slower.
			runs[3].Latency["handoff"] = runs[2].Latency["handoff"]
			f := resulttest.FileOf(runs...)
			f.Skipped = []string{"lock/go-zookeeper on native: it needs the client library go-zookeeper"}
			return f, render.Options{}
		},
		"alike": func() (results.File, render.Options) {
			other := zookeeper
			other.Durability = "memory"
			return resulttest.FileOf(resulttest.Herding(resulttest.Native())[2], resulttest.Herding(other)[2]), render.Options{}
		},
		"nothing alike": func() (results.File, render.Options) {
			synced := zookeeper
			synced.Reads = "sync"
			return resulttest.FileOf(resulttest.Herding(resulttest.Native())[2], resulttest.Herding(synced)[2], resulttest.Herding(remote)[2]), render.Options{}
		},
		"warnings": func() (results.File, render.Options) {
			runs := resulttest.Herding(resulttest.Native())[2:]
			runs[1].Warnings = []results.Warning{{Code: "cpu-client-bound", Text: "client-bound: the generator used 1.8 of 2 cores; the service may be faster"}}
			runs[0].Safety.BeliefOverlaps, runs[0].Safety.TokensRefused = 2, 2
			runs[0].Cost.Expected.Identities[0] = results.Identity{Formula: "lists = N + K", Left: 4351, Right: 4350}
			f := resulttest.FileOf(runs...)
			f.Command = append(f.Command, "--label", "it's a test")
			return f, render.Options{}
		},
		"several forms": func() (results.File, render.Options) {
			poll := resulttest.Sample{Form: "poll", Family: "naive", Clients: 128, Rounds: 2100, Notif: 0, Reads: 64, Writes: 2, Handoff: 5 * time.Millisecond, Acquire: 120 * time.Millisecond, Fanout: 0, Wasted: 0}
			library := resulttest.Sample{Form: "go-zookeeper", Family: "library", Clients: 128, Rounds: 4100, Notif: 1, Reads: 3, Writes: 2, Handoff: 70 * time.Microsecond, Acquire: 51 * time.Millisecond, Fanout: 1, Wasted: 0}
			runs := append(resulttest.Herding(resulttest.Native())[2:], poll.Run(resulttest.Native()), library.Run(resulttest.Native()))
			return resulttest.FileOf(runs...), render.Options{}
		},
		"median only": func() (results.File, render.Options) {
			calm := resulttest.Sample{Form: "predecessor", Family: "recipe", Clients: 8, Rounds: 900, Notif: 1, Reads: 3, Writes: 2, Handoff: 200 * time.Microsecond, Acquire: 9 * time.Millisecond, Fanout: 1, Wasted: 0}
			naive := resulttest.Sample{Form: "one-node", Family: "naive", Clients: 8, Rounds: 300, Notif: 7, Reads: 7, Writes: 9, Handoff: 800 * time.Microsecond, Acquire: 20 * time.Millisecond, Fanout: 7, Wasted: 0.9}
			return resulttest.FileOf(calm.Run(resulttest.Native()), naive.Run(resulttest.Native())), render.Options{}
		},
		"nearly all wasted": func() (results.File, render.Options) {
			calm := resulttest.Sample{Form: "go-zookeeper", Family: "library", Clients: 32, Rounds: 2000, Notif: 1, Reads: 3, Writes: 2, Handoff: 200 * time.Microsecond, Acquire: 9 * time.Millisecond, Fanout: 1, Wasted: 0}
			naive := resulttest.Sample{Form: "one-node", Family: "naive", Clients: 32, Rounds: 2000, Notif: 29.3, Reads: 29.3, Writes: 31, Handoff: 250 * time.Microsecond, Acquire: 20 * time.Millisecond, Fanout: 31, Wasted: 0.98}
			return resulttest.FileOf(calm.Run(resulttest.Native()), naive.Run(resulttest.Native())), render.Options{}
		},
		"notified twice": func() (results.File, render.Options) {
			calm := resulttest.Sample{Form: "one-watch", Family: "recipe", Clients: 8, Rounds: 4000, Notif: 7.5, Reads: 7.5, Writes: 1, Handoff: 400 * time.Microsecond, Fanout: 8}
			naive := resulttest.Sample{Form: "watch-each", Family: "naive", Clients: 8, Rounds: 2000, Notif: 11, Reads: 14.4, Writes: 1, Handoff: 900 * time.Microsecond, Fanout: 8, Wasted: 0.33}
			return resulttest.FileOf(converging("mutual-watch", calm), converging("mutual-watch", naive)), render.Options{}
		},
		"notified twice alike": func() (results.File, render.Options) {
			calm := resulttest.Sample{Form: "watch-each", Family: "recipe", Clients: 8, Rounds: 4000, Notif: 11, Reads: 13.3, Writes: 1, Handoff: 400 * time.Microsecond, Fanout: 8, Wasted: 0.25}
			naive := resulttest.Sample{Form: "relist", Family: "naive", Clients: 8, Rounds: 2000, Notif: 11, Reads: 67.3, Writes: 1, Handoff: 1900 * time.Microsecond, Fanout: 8, Wasted: 0.25}
			return resulttest.FileOf(converging("mirror", calm), converging("mirror", naive)), render.Options{}
		},
		"requests beside": func() (results.File, render.Options) {
			runs := resulttest.Herding(remote)[2:]
			runs[0].Cost.PerRound.RPCs, runs[1].Cost.PerRound.RPCs = 7.02, 398
			return resulttest.FileOf(runs...), render.Options{}
		},
		"open loop": func() (results.File, render.Options) {
			runs := resulttest.Herding(resulttest.Native())[2:]
			for i := range runs {
				runs[i].Loop, runs[i].Open, runs[i].OfferedPerS = "open", &results.Open{Rate: "800", Arrival: "poisson"}, 801.2
				runs[i].Generator = results.Generator{Offered: 4006, Late: 12}
			}
			keepsUp, behind := &runs[0], &runs[1]
			keepsUp.ThroughputPerS = 799
			behind.Generator.Late, behind.Generator.Skipped = 3906, 956
			behind.Warnings = append(behind.Warnings, results.WarningOf(metrics.Warning{Code: metrics.Behind,
				Numbers: metrics.Numbers{"completed": 3050, "offered": 4006}}))
			due := results.DistributionOf(resulttest.Spread(3050, 400*time.Millisecond))
			behind.Latency["acquire"] = results.Latency{Count: 3050, Service: behind.Latency["acquire"].Service, Response: due}
			return resulttest.FileOf(runs...), render.Options{}
		},
		"mix": func() (results.File, render.Options) {
			return mixFile(mixing(resulttest.Native(), results.Mix{Keys: 1000, KeysBy: "zipfian", SizeBytes: 100, Conditional: true})...), render.Options{}
		},
		"mix of transactions": func() (results.File, render.Options) {
			runs := mixing(resulttest.Native(), results.Mix{Keys: 1000, KeysBy: "uniform", NameLength: 40, SizeBytes: 2000, SizeBy: "zipfian",
				Lists: 0.1, ListSize: 500, Txns: 0.5, TxnOps: 5, Conditional: true})
			for i := range runs {
				r := &runs[i]
				r.Phases = append(r.Phases, "list", "transaction")
				r.Mix.Transactions, r.Mix.Refused = r.Rounds/22, 34 // half of the writes
				for n, phase := range []string{"list", "transaction"} {
					d := results.DistributionOf(resulttest.Spread(r.Mix.Transactions, time.Duration(n+2)*400*time.Microsecond))
					r.Latency[phase] = results.Latency{Count: r.Mix.Transactions, Service: d, Response: d}
				}
			}
			return mixFile(runs...), render.Options{}
		},
		"mix in an open loop": func() (results.File, render.Options) {
			runs := mixing(zookeeper, results.Mix{Keys: 1000, KeysBy: "uniform", SizeBytes: 1000})
			for i := range runs {
				runs[i].Loop, runs[i].Open, runs[i].OfferedPerS = "open", &results.Open{Rate: "20000", Arrival: "constant"}, 20_000
				runs[i].Generator = results.Generator{Offered: 100_100}
			}
			return mixFile(runs[:1]...), render.Options{}
		},
		"background": func() (results.File, render.Options) {
			return resulttest.FileOf(besides(resulttest.Herding(resulttest.Native())[2:], 210*time.Microsecond, 3*time.Millisecond)...), render.Options{}
		},
		"background of one form": func() (results.File, render.Options) {
			return resulttest.FileOf(besides(resulttest.Herding(resulttest.Native())[2:3], 210*time.Microsecond)...), render.Options{}
		},
		"poll": func() (results.File, render.Options) {
			poll := resulttest.Sample{Form: "poll", Family: "naive", Clients: 128, Rounds: 2100, Notif: 0, Reads: 64, Writes: 2, Handoff: 5 * time.Millisecond, Acquire: 120 * time.Millisecond, Fanout: 0, Wasted: 0}
			return resulttest.FileOf(resulttest.Herding(resulttest.Native())[2], poll.Run(resulttest.Native())), render.Options{}
		},
	}
	for name, made := range tests {
		t.Run(name, func(t *testing.T) {
			f, o := made()
			wantText(t, f, o, strings.ReplaceAll(name, " ", "-")+".txt")
		})
	}
}

// textOf returns what the terminal shows of a result.
func textOf(t *testing.T, of results.Result, o render.Options) string {
	t.Helper()
	var b strings.Builder
	if err := render.WriteText(&b, of, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// wantText compares what the terminal shows of a result with a file that reads as prose.
func wantText(t *testing.T, of results.Result, o render.Options, name string) {
	t.Helper()
	text := textOf(t, of, o)
	golden.Compare(t, "testdata/"+name, []byte(text))
	checkWidth(t, text)
}

// checkWidth checks that tables fit a terminal; prose may wrap.
func checkWidth(t *testing.T, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		cells := strings.Contains(line, "   ")
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); cells && n > 120 {
			t.Errorf("a line of %d characters: %s", n, line)
		}
	}
}
