package export_test

import (
	"context"
	"math"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/internal/testenv"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/metrics/export"
	"github.com/stampede-bench/stampede/metrics/fanout"
	"github.com/stampede-bench/stampede/workloads"
)

// BenchmarkOff measures the extra cost of an operation in a run that is registered with a
// collector, compared with one that is not. No telemetry code is on the path of an operation,
// so the question is whether the registration itself, without a reader, changes anything;
// telemetry that is off does even less. Blocks of the two sides alternate, and so does their
// order. The result is the difference between the fastest blocks, since other load on the
// machine only adds time. The client that makes the operations only counts and times them.
func BenchmarkOff(b *testing.B) {
	s := backendtest.InProcess(b)
	var c export.Collector
	var took [2][]float64
	const block = 50_000
	for turn := 0; b.Loop(); turn++ {
		for i := range 2 {
			side := (turn + i) % 2
			r := counted(b, s, block, watching(&c, side == 1))
			took[side] = append(took[side], float64(r.Duration)/float64(r.Rounds))
		}
	}
	off, handed := slices.Min(took[0]), slices.Min(took[1])
	b.ReportMetric(0, "ns/op") // that of a block, which means nothing
	b.ReportMetric(off, "off-ns")
	b.ReportMetric(handed-off, "added-ns")
}

// An operation causes no allocation, neither in a run without a collector nor in one that is
// registered with a collector without readers.
func TestOffAllocatesNothing(t *testing.T) {
	testenv.SkipIfShort(t)
	s := backendtest.InProcess(t)
	var c export.Collector
	for name, watch := range map[string]func(*workloads.Live){"off": nil, "handed over": watching(&c, true)} {
		if n := allocations(t, s, watch, 0); n >= 0.02 {
			t.Errorf("%s: %.3f allocations an operation, want none", name, n)
		}
	}
	if n := allocations(t, s, nil, 1); n < 0.95 || n > 1.05 {
		t.Errorf("%.3f allocations an operation are found where there is one", n)
	}
}

// watching returns a function that registers a run with the collector, or nil where the run
// is not to be registered.
func watching(c *export.Collector, is bool) func(*workloads.Live) {
	if !is {
		return nil
	}
	return func(l *workloads.Live) { c.Begin(one, l) }
}

// allocations returns the allocations of an operation: the difference between a long run and a
// short one. Other activity of the process only adds allocations, and more on a busy machine,
// so the run with the fewest of several counts.
func allocations(t *testing.T, s drivers.Service, watch func(*workloads.Live), more int) float64 {
	short, long := fewestAllocations(t, s, 1000, watch, more), fewestAllocations(t, s, 401_000, watch, more)
	return (float64(long.mallocs) - float64(short.mallocs)) / float64(long.operations-short.operations)
}

// A cost is what a whole run did. Its operations include those before its window opened, which
// a busy machine prolongs.
type cost struct {
	mallocs    uint64
	operations int64
}

// fewestAllocations returns the cost of the run with the fewest allocations.
func fewestAllocations(t *testing.T, s drivers.Service, rounds int64, watch func(*workloads.Live), more int) cost {
	least := cost{mallocs: math.MaxUint64}
	for range 3 {
		if c := costOf(t, s, rounds, watch, more); c.mallocs < least.mallocs {
			least = c
		}
	}
	return least
}

func costOf(t *testing.T, s drivers.Service, rounds int64, watch func(*workloads.Live), more int) cost {
	p := counting(s, rounds, watch)
	p.Form.New = func(workloads.Settings) workloads.Workload { return newCounter(more) }
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r, err := workloads.Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	return cost{after.Mallocs - before.Mallocs, r.WholeRounds}
}

// counted runs one client for the given number of rounds.
func counted(b *testing.B, s drivers.Service, rounds int64, watch func(*workloads.Live)) *metrics.Record {
	r, err := workloads.Run(b.Context(), counting(s, rounds, watch))
	if err != nil {
		b.Fatal(err)
	}
	return r
}

func counting(s drivers.Service, rounds int64, watch func(*workloads.Live)) workloads.Plan {
	f := workloads.Form{Recipe: "counter", Name: "counter", Family: workloads.Load,
		New: func(workloads.Settings) workloads.Workload { return newCounter(0) }}
	return workloads.Plan{Service: s, Form: f, Clients: 1, Rounds: rounds, Duration: time.Minute, Watch: watch}
}

// A counter is a workload whose operation only does what a run does for its own result: it is
// counted as if it had crossed the wire, and timed.
type counter struct {
	workloads.Workload // has no Settle
	timed              *metrics.Latency
	more               int // allocations of each operation
}

func newCounter(more int) *counter { return &counter{timed: metrics.NewLatency("count"), more: more} }

func (c *counter) Attach(drivers.Conn, string, int)          {}
func (c *counter) Setup(context.Context, drivers.Conn) error { return nil }
func (c *counter) Together() bool                            { return false }
func (c *counter) Lap() metrics.Lap                          { return c.timed.Lap() }
func (c *counter) Verdict() metrics.Safety                   { return metrics.Safety{} }

func (c *counter) Fill(r *metrics.Record) {
	r.Phases = []metrics.Phase{c.timed.Phase()}
	r.Rounds = r.Phases[0].Service.TotalCount()
}

func (c *counter) Join(s *workloads.Slot) (workloads.Client, error) {
	return &countingClient{counter: c, slot: s, marks: s.Marks, path: []byte("/counted")}, nil
}

type countingClient struct {
	*counter
	slot  *workloads.Slot
	marks *fanout.Session
	path  []byte
	kept  []byte
}

func (c *countingClient) Turn(context.Context) (int64, error) {
	began := time.Now()
	c.marks.Message(drivers.Message{Kind: drivers.Request, Op: drivers.OpGet, Path: c.path, Size: 40})
	c.marks.Message(drivers.Message{Kind: drivers.Reply, Op: drivers.OpGet, Pos: 1, Size: 100})
	for range c.more {
		c.kept = make([]byte, 8)
	}
	took := time.Since(began)
	c.slot.Record(c.timed, took, took)
	return 1, nil
}
