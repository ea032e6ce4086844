package document_test

import (
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/resulttest"
)

// mixing returns runs of raw operations with two numbers of clients.
func mixing(on drivers.Info, asked results.Mix) (runs []results.Run) {
	for _, level := range []struct {
		clients       int
		reads, writes int64
		took          time.Duration
	}{{8, 91_000, 9_100, 180 * time.Microsecond}, {64, 155_000, 15_400, 900 * time.Microsecond}} {
		took, longer := level.took, level.took*3/2
		runs = append(runs, results.FromRecord(results.Setting{
			Recipe: "mix", Form: "operations", Family: "load", Backend: on, Clients: level.clients, Mix: &asked, Reads: 10. / 11,
		}, &metrics.Record{
			Duration: 5 * time.Second, Rounds: level.reads + level.writes,
			Phases: []metrics.Phase{
				{Name: "read", Service: resulttest.Spread(level.reads, took), Response: resulttest.Spread(level.reads, took)},
				{Name: "write", Service: resulttest.Spread(level.writes, longer), Response: resulttest.Spread(level.writes, longer)},
			},
			Counts: metrics.Counts{Reads: level.reads, Writes: level.writes},
			Mix:    &metrics.Mix{Reads: level.reads, Writes: level.writes, Retries: 12},
			Safety: metrics.Safety{Checked: level.reads + level.writes},
		}))
	}
	for i, rounds := range []int64{31_200, 34_900, 36_100, 29_800, 38_400} {
		runs[1].Intervals = append(runs[1].Intervals, results.Interval{T: time.Duration(i) * time.Second, Rounds: rounds})
	}
	return runs
}

func mixFile(runs ...results.Run) results.File {
	f := resulttest.FileOf(runs...)
	f.Command = []string{"stampede", "run", "mix", "--backend", "native:", "--clients", "8,64", "--seed", "42"}
	return f
}

// besides adds a background to each run, with the given latency of its reads.
func besides(runs []results.Run, took ...time.Duration) []results.Run {
	for i := range runs {
		asked := &results.Background{Clients: 16, RatePerS: 5000, Keys: 100, SizeBytes: 1000, ReadRatio: results.ReadRatio{Asked: 0.9}}
		runs[i].Background = results.FromRecord(results.Setting{Background: asked}, &metrics.Record{Background: &metrics.Record{
			Duration: 5 * time.Second, Rounds: 25_000, Mix: &metrics.Mix{Reads: 22_400, Writes: 2_600},
			Phases:    []metrics.Phase{{Name: "read", Service: resulttest.Spread(22_400, took[i]), Response: resulttest.Spread(22_400, took[i])}},
			Generator: metrics.Generator{Offered: 25_001},
		}}).Background
	}
	return runs
}

// The file has the requested mix and what it achieved.
func TestMixInTheFile(t *testing.T) {
	asked := results.Mix{Keys: 1000, KeysBy: "uniform", SizeBytes: 100, Conditional: true}
	r := besides(mixing(resulttest.Native(), asked)[:1], time.Millisecond)[0]
	asked.Retries = 12
	if *r.Mix != asked || *r.ReadRatio != (results.ReadRatio{Asked: 10. / 11, Achieved: 91. / 100.1}) {
		t.Errorf("%+v, %+v", *r.Mix, *r.ReadRatio)
	}
	b := r.Background
	if b.ThroughputPerS != 5000 || b.ReadRatio != (results.ReadRatio{Asked: 0.9, Achieved: 0.896}) || b.Offered != 25_001 ||
		b.Latency["read"].Count != 22_400 || len(b.Phases) != 1 {
		t.Errorf("background %+v", b)
	}
	if lock := resulttest.Herding(resulttest.Native())[0]; lock.Mix != nil || lock.ReadRatio != nil || lock.Background != nil {
		t.Errorf("a lock has a mix: %+v", lock)
	}
}
