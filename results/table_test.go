package results

import (
	"bytes"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/internal/golden"
	"github.com/stampede-bench/stampede/metrics"
)

// A sample describes a run in a few numbers.
type sample struct {
	form, family     string
	clients          int
	rounds           int64
	notif, reads     float64 // per round
	writes           float64
	handoff, acquire time.Duration // medians; the p99 is about three times as high
	fanout           int64         // the largest
	wasted           float64       // a share
}

// native returns the service of the samples.
func native() drivers.Info {
	return drivers.Info{Name: "native", URL: "native:", Durability: "memory", Client: "go-zookeeper",
		Reads: "local", Started: "own process"}
}

// spread returns a histogram of n values whose median is d and whose p90 and p99 are 3·d.
func spread(n int64, d time.Duration) *hdrhistogram.Histogram {
	h := hdrhistogram.New(1, int64(time.Hour), 3)
	low := n * 85 / 100
	for v, times := range map[time.Duration]int64{d: low, 3 * d: n - low} {
		if err := h.RecordValues(int64(v), times); err != nil {
			panic(err)
		}
	}
	return h
}

func (s sample) record() *metrics.Record {
	n := func(perRound float64) int64 { return int64(perRound * float64(s.rounds)) }
	fanout := hdrhistogram.New(1, 1000, 3)
	if s.fanout > 0 {
		if err := fanout.RecordValue(s.fanout); err != nil {
			panic(err)
		}
	}
	woken := n(s.notif)
	wasted := int64(s.wasted * float64(woken))
	return &metrics.Record{
		Duration: 5 * time.Second, Rounds: s.rounds,
		Phases: []metrics.Phase{
			{Name: "acquire", Service: spread(s.rounds, s.acquire), Response: spread(s.rounds, s.acquire)},
			{Name: "handoff", Service: spread(s.rounds, s.handoff), Response: spread(s.rounds, s.handoff)},
		},
		Counts: metrics.Counts{Notifications: woken, Reads: n(s.reads), Writes: n(s.writes), Useful: woken - wasted, Wasted: wasted},
		Herd:   metrics.Herd{Notifications: woken, Fanout: fanout, Largest: s.fanout, Timeline: s.timeline()},
		Safety: metrics.Safety{Checked: s.rounds, Tokens: true},
	}
}

// timeline returns the timeline of two triggers that each wake the same number of clients, all in the bin
// at zero.
func (s sample) timeline() metrics.Timeline {
	l := metrics.Timeline{Bin: time.Millisecond, From: -10 * time.Millisecond, Triggers: 2}
	l.Notifications[10] = 2 * int64(s.notif)
	return l
}

func (s sample) run(on drivers.Info) Run {
	return FromRecord(Setting{
		Recipe: "lock", Form: s.form, Family: s.family, Backend: on, Clients: s.clients,
		Hold: time.Millisecond,
		Expected: &Expected{Identities: []Identity{
			{Formula: "lists = N + K", Left: 7, Right: 7, Holds: true},
		}},
	}, s.record())
}

// herding returns the runs of a typical herd: the recipe and the naive form at rising numbers of clients.
func herding(on drivers.Info) (runs []Run) {
	for _, s := range []sample{
		{"predecessor", "recipe", 2, 4310, 0.998, 3, 2, 61 * time.Microsecond, 2200 * time.Microsecond, 1, 0},
		{"one-node", "naive", 2, 4290, 0.999, 0.999, 3, 66 * time.Microsecond, 2300 * time.Microsecond, 1, 0},
		{"predecessor", "recipe", 128, 4350, 1, 3, 2, 64 * time.Microsecond, 49700 * time.Microsecond, 1, 0},
		{"one-node", "naive", 128, 3050, 99.1, 99.1, 101.1, 900 * time.Microsecond, 103 * time.Millisecond, 127, 0.99},
	} {
		runs = append(runs, s.run(on))
	}
	return runs
}

// told returns a run with the given number of watchers and 2,000 writes.
func told(form string, watchers int, missed int64, open *Open, last time.Duration) Run {
	f := metrics.Fanout{Watchers: watchers, Writes: 2000, Notifications: 2000*int64(watchers) - missed, Missed: missed}
	for i := range 2000 {
		f.First.Record(-last / 2)
		f.Last.Record(time.Duration(i-500) * time.Microsecond)
	}
	r := &metrics.Record{Duration: 5 * time.Second, Rounds: 2000, Fanout: &f,
		Counts: metrics.Counts{Notifications: f.Notifications}, Generator: metrics.Generator{Offered: 2010, Late: 201},
		Safety: metrics.Safety{Checked: 4000}}
	for i, phase := range []string{"write", "first", "median", "last"} {
		took := last * time.Duration(i+1) / 4
		r.Phases = append(r.Phases, metrics.Phase{Name: phase, Service: spread(2000, took), Response: spread(2000, took+time.Millisecond)})
	}
	return FromRecord(Setting{Recipe: "fanout", Form: form, Family: "load", Backend: native(), Clients: watchers, Open: open}, r)
}

func file(runs ...Run) File {
	return File{
		Schema: Schema, ID: "20261121-0931-lock", Started: time.Date(2026, 11, 21, 9, 31, 0, 0, time.UTC),
		Tool: Tool{Version: "v0.1.0", Commit: "0123abc", Go: "go1.26"},
		Seed: 42, Took: 16*time.Second + 300*time.Millisecond, Runs: runs,
		Command: []string{"stampede", "run", "lock", "--backend", "native:", "--clients", "2,128", "--hold", "1ms", "--seed", "42"},
	}
}

// The golden files are what people see; read one before you accept a new version.
func TestTable(t *testing.T) {
	few := sample{"predecessor", "recipe", 8, 15, 1, 3, 2, time.Millisecond, 20 * time.Millisecond, 1, 0}
	fewNaive := sample{"one-node", "naive", 8, 12, 5.5, 5.5, 9, 2 * time.Millisecond, 22 * time.Millisecond, 7, 0.82}
	zookeeper := drivers.Info{Name: "zookeeper", URL: "zookeeper:", Server: "ZooKeeper 3.8.0", Durability: "fsync",
		Client: "go-zookeeper", Reads: "local", Started: "own process"}
	remote := drivers.Info{Name: "etcd", URL: "etcd://h", Server: "etcd 3.6.1", Durability: "unknown", Client: "clientv3", Reads: "linearizable"}
	tests := map[string]func() (File, TableOptions){
		"herd": func() (File, TableOptions) {
			return file(herding(native())...), TableOptions{Saved: "20261121-0931-lock.json"}
		},
		"fanout": func() (File, TableOptions) {
			return file(told("one-shot", 50, 0, nil, 900*time.Microsecond), told("persistent", 50, 0, nil, 800*time.Microsecond),
				told("one-shot", 5000, 0, nil, 84*time.Millisecond), told("persistent", 5000, 0, nil, 80*time.Millisecond)), TableOptions{}
		},
		"fanout-open": func() (File, TableOptions) {
			return file(told("one-shot", 5000, 100_000, &Open{Rate: "400", Arrival: "constant"}, 84*time.Millisecond)), TableOptions{}
		},
		"bold": func() (File, TableOptions) { return file(herding(native())[2:]...), TableOptions{Bold: true} },
		"violated": func() (File, TableOptions) {
			runs := herding(native())[2:]
			runs[1].Safety.Violations = 3
			runs[1].Safety.Details = []string{"client 4 was granted the lock while client 9 held it"}
			return file(runs...), TableOptions{}
		},
		"recipe alone": func() (File, TableOptions) { return file(herding(native())[2]), TableOptions{} },
		"naive alone":  func() (File, TableOptions) { return file(herding(native())[3]), TableOptions{} },
		"naive without rounds": func() (File, TableOptions) {
			none := sample{form: "one-node", family: "naive", clients: 128}
			return file(herding(native())[2], none.run(native())), TableOptions{}
		},
		"naive elsewhere": func() (File, TableOptions) {
			runs := herding(native())
			return file(runs[1], runs[2]), TableOptions{}
		},
		"too few rounds": func() (File, TableOptions) {
			return file(few.run(native()), fewNaive.run(native())), TableOptions{}
		},
		"no rounds": func() (File, TableOptions) {
			none := sample{form: "predecessor", family: "recipe", clients: 8}
			f := file(none.run(native()))
			f.Interrupted = true
			return f, TableOptions{}
		},
		"no run": func() (File, TableOptions) {
			f := file()
			f.Interrupted = true
			return f, TableOptions{}
		},
		"interrupted": func() (File, TableOptions) {
			f := file(herding(native())[:3]...)
			f.Interrupted = true
			return f, TableOptions{Saved: "lock.json"}
		},
		"two backends": func() (File, TableOptions) {
			runs := append(herding(native())[2:], herding(zookeeper)[2:]...)
			// In the second case the naive form wakes as many clients, and is not slower.
			runs[3].Latency["handoff"] = runs[2].Latency["handoff"]
			f := file(runs...)
			f.Skipped = []string{"lock/go-zookeeper on native: it needs the client library go-zookeeper"}
			return f, TableOptions{}
		},
		"alike": func() (File, TableOptions) {
			other := zookeeper
			other.Durability = "memory"
			return file(herding(native())[2], herding(other)[2]), TableOptions{}
		},
		"nothing alike": func() (File, TableOptions) {
			synced := zookeeper
			synced.Reads = "sync"
			return file(herding(native())[2], herding(synced)[2], herding(remote)[2]), TableOptions{}
		},
		"warnings": func() (File, TableOptions) {
			runs := herding(native())[2:]
			runs[1].Warnings = []Warning{{"cpu-client-bound", "client-bound: the generator used 1.8 of 2 cores; the service may be faster than this"}}
			runs[0].Safety.BeliefOverlaps, runs[0].Safety.TokensRefused = 2, 2
			runs[0].Cost.Expected.Identities[0] = Identity{Formula: "lists = N + K", Left: 4351, Right: 4350}
			f := file(runs...)
			f.Command = append(f.Command, "--label", "it's a test")
			return f, TableOptions{}
		},
		"several forms": func() (File, TableOptions) {
			poll := sample{"poll", "naive", 128, 2100, 0, 64, 2, 5 * time.Millisecond, 120 * time.Millisecond, 0, 0}
			library := sample{"go-zookeeper", "library", 128, 4100, 1, 3, 2, 70 * time.Microsecond, 51 * time.Millisecond, 1, 0}
			runs := append(herding(native())[2:], poll.run(native()), library.run(native()))
			return file(runs...), TableOptions{}
		},
		"median only": func() (File, TableOptions) {
			calm := sample{"predecessor", "recipe", 8, 900, 1, 3, 2, 200 * time.Microsecond, 9 * time.Millisecond, 1, 0}
			naive := sample{"one-node", "naive", 8, 300, 7, 7, 9, 800 * time.Microsecond, 20 * time.Millisecond, 7, 0.9}
			return file(calm.run(native()), naive.run(native())), TableOptions{}
		},
		"nearly all in vain": func() (File, TableOptions) {
			calm := sample{"go-zookeeper", "library", 32, 2000, 1, 3, 2, 200 * time.Microsecond, 9 * time.Millisecond, 1, 0}
			naive := sample{"one-node", "naive", 32, 2000, 29.3, 29.3, 31, 250 * time.Microsecond, 20 * time.Millisecond, 31, 0.98}
			return file(calm.run(native()), naive.run(native())), TableOptions{}
		},
		"requests beside": func() (File, TableOptions) {
			runs := herding(remote)[2:]
			runs[0].Cost.PerRound.RPCs, runs[1].Cost.PerRound.RPCs = 7.02, 398
			return file(runs...), TableOptions{}
		},
		"open loop": func() (File, TableOptions) {
			runs := herding(native())[2:]
			for i := range runs {
				runs[i].Loop, runs[i].Open, runs[i].OfferedPerS = "open", &Open{Rate: "800", Arrival: "poisson"}, 801.2
				runs[i].Generator = Generator{Offered: 4006, Late: 12}
			}
			keepsUp, behind := &runs[0], &runs[1]
			keepsUp.ThroughputPerS = 799
			behind.Generator.Late, behind.Generator.Skipped = 2950, 956
			due := distribution(spread(3050, 400*time.Millisecond))
			behind.Latency["acquire"] = Latency{Count: 3050, Service: behind.Latency["acquire"].Service, Response: due}
			return file(runs...), TableOptions{}
		},
		"mix": func() (File, TableOptions) {
			return mixFile(mixing(native(), Mix{Keys: 1000, KeysBy: "zipfian", SizeBytes: 100, Conditional: true})...), TableOptions{}
		},
		"mix in an open loop": func() (File, TableOptions) {
			runs := mixing(zookeeper, Mix{Keys: 1000, KeysBy: "uniform", SizeBytes: 1000})
			for i := range runs {
				runs[i].Loop, runs[i].Open, runs[i].OfferedPerS = "open", &Open{Rate: "20000", Arrival: "constant"}, 20_000
				runs[i].Generator = Generator{Offered: 100_100}
			}
			return mixFile(runs[:1]...), TableOptions{}
		},
		"background": func() (File, TableOptions) {
			return file(besides(herding(native())[2:], 210*time.Microsecond, 3*time.Millisecond)...), TableOptions{}
		},
		"background of one form": func() (File, TableOptions) {
			return file(besides(herding(native())[2:3], 210*time.Microsecond)...), TableOptions{}
		},
		"poll": func() (File, TableOptions) {
			poll := sample{"poll", "naive", 128, 2100, 0, 64, 2, 5 * time.Millisecond, 120 * time.Millisecond, 0, 0}
			return file(herding(native())[2], poll.run(native())), TableOptions{}
		},
	}
	for name, made := range tests {
		t.Run(name, func(t *testing.T) {
			f, o := made()
			var b bytes.Buffer
			if err := f.WriteTable(&b, o); err != nil {
				t.Fatal(err)
			}
			golden.Compare(t, "testdata/"+strings.ReplaceAll(name, " ", "-")+".txt", b.Bytes())
			checkWidth(t, b.String())
		})
	}
}

// checkWidth checks that tables fit a terminal; prose may wrap.
func checkWidth(t *testing.T, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		cells := strings.Contains(line, "   ")
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); cells && n > 122 {
			t.Errorf("a line of %d characters: %s", n, line)
		}
	}
}
