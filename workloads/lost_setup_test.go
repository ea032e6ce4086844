package workloads_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/namespace"
	"github.com/stampede-bench/stampede/workloads/recipe"
	"github.com/stampede-bench/stampede/workloads/runtest"
)

// TestRunSurvivesTheLossOfItsSetupSession ends the session that made the run's nodes. Another one takes its
// place: the run counts as alive, what it needs for later rounds is made, and its nodes are removed.
func TestRunSurvivesTheLossOfItsSetupSession(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		var setup atomic.Pointer[drivers.Conn]
		hooked := runtest.Hooked(s, func(c drivers.Conn) drivers.Conn {
			setup.CompareAndSwap(nil, &c)
			return c
		})
		var rounds atomic.Int64
		r, err := workloads.Run(t.Context(), runtest.LockPlan(hooked, func(c drivers.Conn, path string) recipe.Lock {
			return counted{recipes.NewLock(c, path), func() {
				switch rounds.Add(1) {
				case 20:
					(*setup.Load()).Close()
				case 100:
					found, err := namespace.Clean(t.Context(), c, namespace.Default, true)
					if err != nil || len(found) != 1 || !found[0].Alive {
						t.Errorf("stampede clean finds %+v, %v; want one run, alive", found, err)
					}
				}
			}}
		}))
		if err != nil || r.Rounds < 200 || len(r.Errors) != 0 {
			t.Errorf("%v; %d rounds, errors %v", err, r.Rounds, r.Errors)
		}
	})
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		var setup drivers.Conn
		p := runtest.LockPlan(runtest.Hooked(s, func(c drivers.Conn) drivers.Conn {
			if setup == nil {
				setup = c
			}
			return c
		}), nil)
		p.Form = formOf(t, "barrier/watch")
		p.Settings.Think, p.Duration = 10*time.Millisecond, 600*time.Millisecond
		before := int64(0)
		p.Progress = func(now workloads.Progress) {
			if setup.Close(); now.Rounds <= before {
				t.Errorf("%d rounds at %v, as many as before", now.Rounds, now.Elapsed)
			}
			before = now.Rounds
		}
		if r := ran(t, p); len(r.Errors) != 0 {
			t.Errorf("errors: %v", r.Errors)
		}
	})
}

// A counted lock calls taken whenever a client holds it.
type counted struct {
	recipe.Lock
	taken func()
}

func (l counted) Acquire(ctx context.Context) (context.Context, error) {
	held, err := l.Lock.Acquire(ctx)
	if err == nil {
		l.taken()
	}
	return held, err
}

// TestRunSaysThatNodesRemain interrupts a run on a service that has stopped answering. The result says which
// nodes remain, and stampede clean removes them.
func TestRunSaysThatNodesRemain(t *testing.T) {
	inRelay(t, time.Millisecond, 0, func(t *testing.T, s drivers.Service, r *relay) {
		ctx, interrupt := context.WithCancel(t.Context())
		p := runtest.LockPlan(s, runtest.Predecessor)
		p.Duration = time.Hour
		p.Watch = func(*workloads.Live) {
			r.disturb(time.Now(), 5*time.Minute)
			time.AfterFunc(time.Second, interrupt)
		}
		rec, err := workloads.Run(ctx, p)
		if !errors.Is(err, workloads.ErrInterrupted) || rec == nil {
			t.Fatalf("%v, %v; want an interrupted run", rec, err)
		}
		var remain *metrics.Warning
		for _, w := range rec.Warnings {
			if w.Code == metrics.NodesRemain {
				remain = &w
			}
		}
		if remain == nil || remain.Names["backend"] != s.Info().URL {
			t.Fatalf("warnings %+v", rec.Warnings)
		}
		time.Sleep(10 * time.Minute)
		c, err := s.Dial(t.Context(), drivers.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		found, err := namespace.Clean(t.Context(), c, namespace.Default, false)
		if err != nil || len(found) != 1 || found[0].Path != remain.Names["path"] || !strings.HasPrefix(found[0].Path, namespace.Default) {
			t.Errorf("stampede clean found %+v, %v; want %v", found, err, remain.Names)
		}
	})
}
