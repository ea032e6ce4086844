package resulttest

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
)

// A Sample describes a run in a few numbers.
type Sample struct {
	Form, Family     string
	Clients          int
	Rounds           int64
	Notif, Reads     float64 // per round
	Writes           float64
	Handoff, Acquire time.Duration // medians; the p99 is about three times as high
	Fanout           int64         // the largest
	Wasted           float64       // a share
}

// Native returns the service of the samples.
func Native() drivers.Info {
	return drivers.Info{Name: "native", URL: "native:", Durability: "memory", Client: "go-zookeeper",
		Reads: "local", Started: "own process"}
}

// Spread returns a histogram of n values whose median is d and whose p90 and p99 are 3·d.
func Spread(n int64, d time.Duration) *hdrhistogram.Histogram {
	h := hdrhistogram.New(1, int64(time.Hour), 3)
	low := n * 85 / 100
	for v, times := range map[time.Duration]int64{d: low, 3 * d: n - low} {
		if err := h.RecordValues(int64(v), times); err != nil {
			panic(err)
		}
	}
	return h
}

func (s Sample) Record() *metrics.Record {
	n := func(perRound float64) int64 { return int64(perRound * float64(s.Rounds)) }
	fanout := metrics.Tally{}
	if s.Fanout > 0 {
		fanout[s.Fanout]++
	}
	woken := n(s.Notif)
	wasted := int64(s.Wasted * float64(woken))
	return &metrics.Record{
		Duration: 5 * time.Second, Rounds: s.Rounds,
		Phases: []metrics.Phase{
			{Name: "acquire", Service: Spread(s.Rounds, s.Acquire), Response: Spread(s.Rounds, s.Acquire)},
			{Name: "handoff", Service: Spread(s.Rounds, s.Handoff), Response: Spread(s.Rounds, s.Handoff)},
		},
		Counts: metrics.Counts{Notifications: woken, Reads: n(s.Reads), Writes: n(s.Writes), Useful: woken - wasted, Wasted: wasted},
		Herd:   metrics.Herd{Notifications: woken, Fanout: fanout, Largest: s.Fanout, Timeline: s.timeline()},
		Safety: metrics.Safety{Checked: s.Rounds, Tokens: true},
	}
}

// timeline returns the timeline of two triggers that each wake the same number of clients, all in the bin
// at zero.
func (s Sample) timeline() metrics.Timeline {
	l := metrics.Timeline{Bin: time.Millisecond, From: -10 * time.Millisecond, Triggers: 2}
	l.Notifications[10] = 2 * int64(s.Notif)
	return l
}

func (s Sample) Run(on drivers.Info) results.Run {
	return results.FromRecord(results.Setting{
		Recipe: "lock", Form: s.Form, Family: s.Family, Backend: on, Clients: s.Clients,
		Hold: time.Millisecond,
		Expected: &results.Expected{Identities: []results.Identity{
			{Formula: "lists = N + K", Left: 7, Right: 7, Holds: true},
		}},
	}, s.Record())
}

// Herding returns the runs of a typical herd: the recipe and the naive form at rising numbers of clients.
func Herding(on drivers.Info) (runs []results.Run) {
	for _, s := range []Sample{
		{"predecessor", "recipe", 2, 4310, 0.998, 3, 2, 61 * time.Microsecond, 2200 * time.Microsecond, 1, 0},
		{"one-node", "naive", 2, 4290, 0.999, 0.999, 3, 66 * time.Microsecond, 2300 * time.Microsecond, 1, 0},
		{"predecessor", "recipe", 128, 4350, 1, 3, 2, 64 * time.Microsecond, 49700 * time.Microsecond, 1, 0},
		{"one-node", "naive", 128, 3050, 99.1, 99.1, 101.1, 900 * time.Microsecond, 103 * time.Millisecond, 127, 0.99},
	} {
		runs = append(runs, s.Run(on))
	}
	return runs
}

// Overloaded returns a run of an open loop that served some arrivals and lost others.
func Overloaded(served, lost int64) results.Run {
	rec := Sample{Form: "predecessor", Family: "recipe", Clients: 8, Rounds: served, Notif: 1, Reads: 3, Writes: 2, Handoff: time.Millisecond, Acquire: 2 * time.Millisecond, Fanout: 1}.Record()
	if served == 0 {
		rec.Phases = []metrics.Phase{{Name: "acquire"}, {Name: "handoff"}}
	}
	rec.Generator = metrics.Generator{Offered: served + lost, Completed: served, Skipped: lost}
	return results.FromRecord(results.Setting{Recipe: "lock", Form: "predecessor", Family: "recipe", Backend: Native(), Clients: 8,
		Open: &results.Open{Rate: "800", Arrival: "constant"}}, rec)
}

// FannedOut returns a run with the given number of watchers and 2,000 writes.
func FannedOut(form string, watchers int, missed int64, open *results.Open, last time.Duration) results.Run {
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
		r.Phases = append(r.Phases, metrics.Phase{Name: phase, Service: Spread(2000, took), Response: Spread(2000, took+time.Millisecond)})
	}
	return results.FromRecord(results.Setting{Recipe: "fanout", Form: form, Family: "load", Backend: Native(), Clients: watchers, Open: open}, r)
}

func FileOf(runs ...results.Run) results.File {
	return results.File{
		Head: results.Head{Schema: results.Schema, Kind: results.KindRun, ID: "20261121-0931-lock", Started: time.Date(2026, 11, 21, 9, 31, 0, 0, time.UTC),
			Tool: results.Tool{Version: "v0.1.0", Commit: "0123abc", Go: "go1.26"},
			Seed: 42, Took: 16*time.Second + 300*time.Millisecond,
			Command: []string{"stampede", "run", "lock", "--backend", "native:", "--clients", "2,128", "--hold", "1ms", "--seed", "42"}},
		Runs: runs,
	}
}
