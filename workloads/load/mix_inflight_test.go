package load_test

import (
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/cluster/faults"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/openloop"
	"github.com/stampede-bench/stampede/workloads/runtest"
)

// TestInFlightRequestsOfASession checks that in a closed loop each session has the configured
// number of requests in flight, and that each request is an operation.
func TestInFlightRequestsOfASession(t *testing.T) {
	for _, inFlight := range []int{1, 16} {
		runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
			r := runtest.Measure(t, runtest.MixPlan(s, workloads.MixSettings{
				Reads: 0.6, Lists: 0.1, Creates: 0.2, Conditional: true, Keys: 20, InFlight: inFlight}))
			if want := int64(5 * inFlight * 300); r.Rounds != want || r.Mix.Reads+r.Mix.Writes != want {
				t.Errorf("%d in flight: %d rounds, %+v; want %d", inFlight, r.Rounds, *r.Mix, want)
			}
			if r.Safety.Violations > 0 || r.Safety.Checked == 0 {
				t.Errorf("%d in flight: %+v", inFlight, r.Safety)
			}
		})
	}
}

// TestInFlightRequestsServeAHighRate offers a rate that 64 sessions can only serve with several
// requests in flight each. All operations must begin when they are due, and complete.
func TestInFlightRequestsServeAHighRate(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		p := runtest.MixPlan(runtest.Slow(s), workloads.MixSettings{Reads: 1, InFlight: 16})
		p.Settings.Think, p.Clients, p.Warmup, p.Duration = 0, 64, 20*time.Millisecond, 100*time.Millisecond
		p.Open = openloop.Options{Rate: openloop.PerSecond(150_000)}
		r := runtest.Measure(t, p)
		g := r.Generator
		if g.Offered < 14_999 || g.Offered > 15_000 || g.Late > 0 || g.Completed != g.Offered || r.Safety.Violations > 0 {
			t.Errorf("%+v, %+v; want 15,000 offered, none of them late", g, r.Safety)
		}
	})
}

// TestInFlightRequestsOutliveALostSession checks that a client that loses its session with requests
// in flight continues with new operations on a new session, and that no read then returns a version
// that is too old.
func TestInFlightRequestsOutliveALostSession(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		p := runtest.MixPlan(s, workloads.MixSettings{Reads: 0.5, Creates: 0.2, Keys: 10, InFlight: 8})
		p.Settings.Think, p.Duration = 10*time.Millisecond, 3*time.Second
		fault, err := faults.Parse("at=1s expire clients=all")
		if err != nil {
			t.Fatal(err)
		}
		p.Faults = faults.Schedule{fault}
		r := runtest.Measure(t, p)
		if lost := r.Errors[drivers.ErrSessionLost.Error()]; lost != 5 || r.Safety.Violations > 0 {
			t.Errorf("%d sessions lost, %+v; want each once", lost, r.Safety)
		}
		if r.Rounds < 5*8*150 {
			t.Errorf("%d rounds, want those of most of the three seconds", r.Rounds)
		}
	})
}
