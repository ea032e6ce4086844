package workloads_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/cluster/faults"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/exchange"
	"github.com/stampede-bench/stampede/workloads/preload"
	"github.com/stampede-bench/stampede/workloads/runtest"
	"github.com/stampede-bench/stampede/workloads/settled"
)

// A full service opens so many sessions and no more. As a driver does, its Dial tries until the context ends.
type full struct {
	drivers.Service
	room *atomic.Int64
}

func fullAfter(s drivers.Service, sessions int64) full {
	f := full{s, new(atomic.Int64)}
	f.room.Store(sessions)
	return f
}

func (f full) Dial(ctx context.Context, o drivers.Options) (drivers.Conn, error) {
	if f.room.Add(-1) >= 0 {
		return f.Service.Dial(ctx, o)
	}
	<-ctx.Done()
	return nil, fmt.Errorf("no session: %w (%w)", drivers.ErrHungUp, context.Cause(ctx))
}

// TestRunEndsWhereAServiceOpensNoMoreSessions lets a service open only some of the sessions that each kind of run needs.
// The run ends when no more have been opened for as long as its settings say, and says how many are open.
func TestRunEndsWhereAServiceOpensNoMoreSessions(t *testing.T) {
	const patience = 20 * time.Second // longer than the 15 s that a run with faults waits at least
	limited := func(open, of int) string {
		return fmt.Sprintf("native:: %d of %d sessions are open; the service refuses further connections of this address (maxClientCnxns?): "+
			"raise it, or use --agents", open, of)
	}
	run := func(change func(*workloads.Plan)) func(t *testing.T, s drivers.Service, use workloads.Settings) error {
		return func(t *testing.T, s drivers.Service, use workloads.Settings) error {
			p := runtest.LockPlan(s, runtest.Predecessor)
			p.Clients, p.Settings.ConnectTimeout, p.Settings.Joining = 40, use.ConnectTimeout, use.Joining
			change(&p)
			_, err := workloads.Run(t.Context(), p)
			return err
		}
	}
	for name, tc := range map[string]struct {
		room  int64
		want  string
		joins int // of how many sessions progress tells, as the last of a pool's that opens
		do    func(t *testing.T, s drivers.Service, use workloads.Settings) error
	}{
		"setup":                          {0, "closed the connection without an answer", 0, run(func(*workloads.Plan) {})},
		"clients":                        {10, limited(9, 40), 40, run(func(*workloads.Plan) {})},
		"more than are opened at a time": {10, limited(9, 200), 200, run(func(p *workloads.Plan) { p.Clients = 200 })},
		"ramp":                           {10, limited(9, 40), 40, run(func(p *workloads.Plan) { p.Ramp = time.Minute })},
		"groups":                         {10, limited(9, 40), 40, run(func(p *workloads.Plan) { p.Groups = 4 })},
		"preload":                        {2, "preload: no session", 0, run(func(p *workloads.Plan) { p.Preload = preload.Data{Nodes: 10, Watches: 100} })},
		"background": {46, limited(4, 7), 7, run(func(p *workloads.Plan) {
			mix := runtest.MixPlan(p.Service, workloads.MixSettings{})
			p.Background = workloads.Background{Clients: 7, Form: mix.Form}
		})},
		"faults": {10, limited(9, 40), 40, run(func(p *workloads.Plan) {
			f, err := faults.Parse("expire client=1 at=100ms")
			if err != nil {
				panic(err)
			}
			p.Faults = faults.Schedule{f}
		})},
		"settled": {10, limited(9, 40), 40, func(t *testing.T, s drivers.Service, use workloads.Settings) error {
			_, err := settled.Run(t.Context(), s, formOf(t, "lock/predecessor"), 40, use)
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
				began, told := time.Now(), 0
				err := tc.do(t, fullAfter(s, tc.room), workloads.Settings{ConnectTimeout: patience, Joining: func(_, of int) { told = of }})
				if took := time.Since(began); took < patience || took >= patience+time.Second {
					t.Errorf("the run took %v, want %v", took, patience)
				}
				if err == nil || !strings.Contains(err.Error(), tc.want) || !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("got  %v\nwant %s", err, tc.want)
				}
				if told != tc.joins {
					t.Errorf("progress tells of %d sessions, want %d", told, tc.joins)
				}
			})
		})
	}
}

// TestSlowSessionsAreWaitedFor opens sessions so slowly that all of them take longer than the wait for one.
func TestSlowSessionsAreWaitedFor(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		slow := slowly{s, make(chan struct{}, 1), time.Second}
		p := runtest.LockPlan(slow, runtest.Predecessor)
		p.Clients, p.Settings.ConnectTimeout = 10, 5*time.Second
		ran(t, p)
	})
}

// A slowly opening service opens one session at a time.
type slowly struct {
	drivers.Service
	one   chan struct{}
	pause time.Duration
}

func (s slowly) Dial(ctx context.Context, o drivers.Options) (drivers.Conn, error) {
	select {
	case s.one <- struct{}{}:
		defer func() { <-s.one }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if err := drivers.Pause(ctx, s.pause); err != nil {
		return nil, err
	}
	return s.Service.Dial(ctx, o)
}

// TestRunEndsWhereALostSessionIsNotReplaced ends the session of one client during a run. The service opens it no other
// one, although it serves all other clients.
func TestRunEndsWhereALostSessionIsNotReplaced(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		var last drivers.Conn
		p := runtest.LockPlan(fullAfter(runtest.Hooked(s, func(c drivers.Conn) drivers.Conn {
			last = c
			return c
		}), 6), runtest.Predecessor)
		p.Duration, p.Settings.ConnectTimeout = time.Hour, 5*time.Second
		began := time.Now()
		time.AfterFunc(time.Minute, func() {
			if err := s.(drivers.Expirer).Expire(context.Background(), last); err != nil {
				t.Error(err)
			}
		})
		_, err := workloads.Run(t.Context(), p)
		const want = "native:: 4 of 5 sessions are open; the service refuses further connections of this address"
		if took := time.Since(began); err == nil || !strings.Contains(err.Error(), want) || took > time.Minute+10*time.Second {
			t.Errorf("after %v: %v\nwant %s", took, err, want)
		}
	})
}

// A partial service has given servers, of which one accepts no connection.
type partial struct{ drivers.Service }

func (partial) Unreached() []string { return []string{"b:1"} }

// TestRunSaysWhichServersItDidNotReach runs on the others.
func TestRunSaysWhichServersItDidNotReach(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		rec, err := workloads.Run(t.Context(), runtest.LockPlan(partial{s}, runtest.Predecessor))
		if err != nil {
			t.Fatal(err)
		}
		want := metrics.Warning{Code: metrics.Unreached, Numbers: metrics.Numbers{"unreached": 1, "servers": 1}, Names: metrics.Names{"addresses": "b:1"}}
		others := func(w metrics.Warning) bool { return w.Code != metrics.Unreached } // of this machine
		if diff := cmp.Diff([]metrics.Warning{want}, slices.DeleteFunc(rec.Warnings, others)); diff != "" {
			t.Error(diff)
		}
	})
}

// TestPartEndsWhereAServiceOpensNoMoreSessions is the same in one of the processes that share a run: its error says how
// many of its own sessions are open.
func TestPartEndsWhereAServiceOpensNoMoreSessions(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		site, err := workloads.NewSite(runtest.LockPlan(s, runtest.Predecessor))
		if err != nil {
			t.Fatal(err)
		}
		if err := site.Create(t.Context()); err != nil {
			t.Fatal(err)
		}
		for room, want := range map[int64]string{3: "2 of 5 sessions are open", 1: "0 of 5 sessions are open"} {
			p := runtest.LockPlan(fullAfter(s, room), runtest.Predecessor)
			_, err = workloads.RunPart(t.Context(), p, workloads.NewPart(exchange.Everywhere(), site.Base()))
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %s", err, want)
			}
		}
		if err := site.Conclude(nil, nil); err != nil {
			t.Error(err)
		}
	})
}
