package load_test

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/cluster/faults"
	"github.com/stampede-bench/stampede/drivers/lean"
	"github.com/stampede-bench/stampede/internal/bubble"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/draw"
	"github.com/stampede-bench/stampede/workloads/runtest"
)

// A distant connection delivers received data a millisecond late, so that time passes in a bubble
// although no client pauses.
type distant struct{ net.Conn }

func (d distant) Read(p []byte) (int, error) {
	n, err := d.Conn.Read(p)
	time.Sleep(time.Millisecond)
	return n, err
}

// distantly opens sessions with distant connections.
type distantly struct{ *lean.Service }

func (s distantly) Dial(ctx context.Context, o drivers.Options) (drivers.Conn, error) {
	through := o.Through
	o.Through = func(c net.Conn) net.Conn {
		if through != nil {
			c = through(c)
		}
		return distant{c}
	}
	return s.Service.Dial(ctx, o)
}

// leanly tests a mix whose clients do not pause, with the lean client, on a service that is a
// millisecond away.
func leanly(t *testing.T, m workloads.MixSettings, test func(t *testing.T, p workloads.Plan)) {
	bubble.Test(t, func(t *testing.T) {
		s, err := lean.New(backendtest.InMemory(t))
		if err != nil {
			t.Fatal(err)
		}
		p := runtest.MixPlan(distantly{s}, m)
		p.Settings.Think = 0
		test(t, p)
		runtest.WantNothingLeft(t, s)
	})
}

// TestOneGoroutineKeepsASessionsOperationsInProgress checks that one goroutine keeps all
// operations of a session in progress. Each operation is one request on the wire; a conditional
// set is two for each attempt. The number of operations in progress when the window closes is the
// number of streams.
func TestOneGoroutineKeepsASessionsOperationsInProgress(t *testing.T) {
	for name, m := range map[string]workloads.MixSettings{
		"gets":             {Reads: 1},
		"sets":             {Size: 100, KeysBy: draw.Zipfian},
		"all kinds":        {Reads: 0.5, Lists: 0.2, Creates: 0.3},
		"conditional sets": {Conditional: true, Keys: 3},
	} {
		t.Run(name, func(t *testing.T) {
			m.InFlight = 4
			leanly(t, m, func(t *testing.T, p workloads.Plan) {
				r := runtest.Measure(t, p)
				if r.Rounds < 5*4*20 || r.Generator.Unfinished != 5*4 {
					t.Errorf("%d rounds, %d in progress at the end; want 20 at any time", r.Rounds, r.Generator.Unfinished)
				}
				if l := r.Little; l == nil || !l.Holds() && !m.Conditional || l.InProgress < 19.9 || l.InProgress > 20.1 {
					t.Errorf("%+v, want 20 operations in progress", l)
				}
				made, reads := r.Whole.Reads+r.Whole.Writes, int64(0)
				if m.Conditional {
					reads = r.Whole.Writes // each set was preceded by a read
					made -= reads + r.Whole.FailedWrites
				}
				if made != r.WholeRounds {
					t.Errorf("%+v on the wire in %d operations", r.Whole, r.WholeRounds)
				}
				if (r.Mix.Retries > 0) != m.Conditional || r.Safety.Violations > 0 || r.Safety.Checked == 0 {
					t.Errorf("%d made again, %+v", r.Mix.Retries, r.Safety)
				}
			})
		})
	}
}

// TestOperationsOfOneGoroutineOutliveTheirSession checks that a client with several operations in
// progress continues when it loses its session or its connection.
func TestOperationsOfOneGoroutineOutliveTheirSession(t *testing.T) {
	for name, fault := range map[string]string{"session": "at=100ms expire clients=all", "connection": "at=100ms cut clients=all"} {
		t.Run(name, func(t *testing.T) {
			leanly(t, workloads.MixSettings{Reads: 0.5, Creates: 0.2, Keys: 10, InFlight: 8}, func(t *testing.T, p workloads.Plan) {
				f, err := faults.Parse(fault)
				if err != nil {
					t.Fatal(err)
				}
				p.Faults = faults.Schedule{f}
				r := runtest.Measure(t, p)
				want := map[string]int64{"session": 5}[name]
				if lost := r.Errors[drivers.ErrSessionLost.Error()]; lost != want || r.Safety.Violations > 0 {
					t.Errorf("%d sessions lost, want %d; %+v", lost, want, r.Safety)
				}
				if r.Rounds < 5*8*100 || r.Generator.Unfinished != 5*8 || r.Whole.Cuts == 0 {
					t.Errorf("%d rounds, %d in progress at the end, %d cuts", r.Rounds, r.Generator.Unfinished, r.Whole.Cuts)
				}
			})
		})
	}
}
