package workloads_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/openloop"
	"github.com/stampede-bench/stampede/workloads/runtest"
)

// TestManyClientsArriveSpreadOut checks that many clients of a lock arrive one after the other, a
// few at a time, and that the window opens when all of them wait.
func TestManyClientsArriveSpreadOut(t *testing.T) {
	const clients = 240
	for _, ramp := range []time.Duration{0, 2 * time.Second} {
		runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
			a := &arrivals{Service: s, first: make(map[time.Time]int)}
			p := runtest.LockPlan(a, runtest.Predecessor)
			p.Clients, p.Ramp, p.Warmup, p.Duration = clients, ramp, time.Second, time.Second
			p.Settings.Hold = time.Millisecond
			began, opened, before := time.Now(), time.Time{}, 0
			p.Watch = func(*workloads.Live) { opened, before = time.Now(), a.count() }
			r := runtest.Measure(t, p)
			if before != clients || r.Safety.Violations > 0 || len(r.Errors) > 0 {
				t.Errorf("%d of %d clients had arrived when the window opened; %+v, %v", before, clients, r.Safety, r.Errors)
			}
			if took := opened.Sub(began); took < ramp-ramp/clients+p.Warmup {
				t.Errorf("the window opened after %v, want the ramp of %v but for its last step, and the warm-up", took, ramp)
			}
			if want := max(ramp-ramp/clients, time.Nanosecond); r.Ramp < want || r.Ramp > opened.Sub(began)-p.Warmup {
				t.Errorf("a ramp of %v is recorded, want at least %v and the time before the warm-up at most", r.Ramp, want)
			}
			for at, n := range a.first {
				if n > 8 {
					t.Errorf("%d clients arrived at once, %v after the beginning", n, at.Sub(began))
				}
			}
			if len(a.first) < clients/8 {
				t.Errorf("they arrived at %d times", len(a.first))
			}
		})
	}
}

// An arrivals service counts the sessions that have created a node, by the time of their first
// one.
type arrivals struct {
	drivers.Service
	mu    sync.Mutex
	first map[time.Time]int
}

func (a *arrivals) count() (n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, some := range a.first {
		n += some
	}
	return n
}

func (a *arrivals) Dial(ctx context.Context, o drivers.Options) (drivers.Conn, error) {
	if o.OnState != nil { // a client's session
		o.Probe = &firstWrite{Probe: o.Probe, of: a}
	}
	return a.Service.Dial(ctx, o)
}

type firstWrite struct {
	drivers.Probe
	of  *arrivals
	did bool
}

func (f *firstWrite) Message(m drivers.Message) {
	if m.Kind == drivers.Request && m.Op == drivers.OpCreate && !f.did {
		f.did = true
		f.of.mu.Lock()
		f.of.first[time.Now()]++
		f.of.mu.Unlock()
	}
	f.Probe.Message(m)
}

// TestNoRampInAnOpenLoop checks that clients of an open loop arrive immediately: a ramp has no
// meaning there.
func TestNoRampInAnOpenLoop(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		p := runtest.LockPlan(s, runtest.Predecessor)
		p.Open, p.Ramp = openloop.Options{Rate: openloop.PerSecond(100)}, time.Minute
		began := time.Now()
		r, err := workloads.Run(t.Context(), p)
		if err != nil || r.Ramp > 0 || time.Since(began) > 10*time.Second {
			t.Errorf("a ramp of %v, %v in all, %v", r.Ramp, time.Since(began), err)
		}
	})
}
