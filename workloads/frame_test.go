package workloads_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/preload"
)

// A framed service keeps the sessions of a run in the order in which they were opened.
type framed struct {
	drivers.Service
	mu       sync.Mutex
	sessions []drivers.Conn
}

func (s *framed) Dial(ctx context.Context, o drivers.Options) (drivers.Conn, error) {
	c, err := s.Service.Dial(ctx, o)
	if err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.sessions = append(s.sessions, c)
	}
	return c, err
}

// opened returns the i-th session.
func (s *framed) opened(i int) drivers.Conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sessions[i]
}

// TestFrameAtTheEdges disturbs the sessions that a run has beside those of its clients, around the edges of its window:
// one that sets it up and cleans up, one for the background, and one that watches what was loaded before. Their
// connections break, or the service ends them. The run ends as it would have, and leaves nothing. So it does after an
// outage that its clients' sessions survive, though not these, which were idle before it.
func TestFrameAtTheEdges(t *testing.T) {
	const clients = 4
	frame := []string{"the one that cleans up", "the one of the preload", "the one of the background"}
	disturb := map[string]func(s *framed, r *relay, session int){
		"cut": func(s *framed, _ *relay, i int) { s.opened(i).(drivers.Cutter).Cut() },
		"expired": func(s *framed, _ *relay, i int) {
			if err := s.Service.(drivers.Expirer).Expire(context.Background(), s.opened(i)); err != nil {
				t.Error(err)
			}
		},
		"outage": func(_ *framed, r *relay, _ int) { r.drop(9 * time.Second) },
	}
	for _, form := range []string{"lock/predecessor", "barrier/watch", "mix/operations"} {
		for edge, at := range edges() {
			for i, which := range frame {
				for how, do := range disturb {
					if how == "outage" && i > 0 || form == "mix/operations" && i == 2 { // an outage hits all, and a mix has no background
						continue
					}
					inRelay(t, 20*time.Millisecond, 0, func(t *testing.T, s drivers.Service, r *relay) {
						on := &framed{Service: s}
						p := edgePlan(on, r, formOf(t, form), clients, 0, nil)
						p.Preload = preload.Data{Nodes: 10, Watches: 10}
						p.Background = workloads.Background{Clients: 2, Form: formOf(t, "mix/operations"), Mix: workloads.MixSettings{Reads: 1, Keys: 10}}
						session := i
						if form == "mix/operations" {
							p.Background.Clients = 0
						} else if i == 2 {
							session = 2 + workloads.Sessions(p.Plan)
						}
						p.Settings.Hold = 20 * time.Millisecond
						const ahead = 1004 * time.Millisecond
						p.await = func(ctx context.Context) {
							time.AfterFunc(ahead+at, func() { do(on, r, session) })
							workloads.Sleep(ctx, ahead)
						}
						rec, err := p.run(t)
						if err != nil || len(rec.Errors) > 0 || rec.Safety.Violations > 0 || has(rec.Warnings, metrics.PreloadLost) != (i == 1 && how == "expired" && edge != "after it") {
							t.Errorf("%s, %s, %s is %s: %v, %+v", form, edge, which, how, err, rec)
						}
					})
				}
			}
		}
	}
}

// TestExpiryWhileCleaning ends the session that cleans up at each moment of its cleaning. The session that takes its place
// goes on, and marks nothing that is about to go: the namespace is removed, too.
func TestExpiryWhileCleaning(t *testing.T) {
	const reply = 20 * time.Millisecond
	var expired atomic.Int32 // after the end of a run there is no session that could be
	for after := reply / 4; after < time.Second; after += reply / 2 {
		inRelay(t, reply, 0, func(t *testing.T, s drivers.Service, r *relay) {
			on := &framed{Service: s}
			p := edgePlan(on, r, formOf(t, "lock/predecessor"), 2, 0, nil)
			p.await = func(ctx context.Context) {
				time.AfterFunc(edgeWindow+after, func() {
					if s.(drivers.Expirer).Expire(context.Background(), on.opened(0)) == nil {
						expired.Add(1)
					}
				})
			}
			if rec, err := p.run(t); err != nil || rec.Safety.Violations > 0 {
				t.Errorf("expired %v after the window: %v, %+v", after, err, rec)
			}
		})
	}
	if expired.Load() < 20 {
		t.Errorf("%d sessions were expired, want one at each of 20 moments and more", expired.Load())
	}
}
