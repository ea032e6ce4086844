package workloads_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/load"
	"github.com/stampede-bench/stampede/workloads/recipe"
	"github.com/stampede-bench/stampede/workloads/runtest"
)

// A stopping session does not answer reads between two points in time.
type stopping struct {
	drivers.Conn
	from, until time.Time
}

func (s stopping) Get(ctx context.Context, path string, w drivers.Watch) ([]byte, drivers.Stat, error) {
	if now := time.Now(); now.After(s.from) && now.Before(s.until) {
		time.Sleep(s.until.Sub(now))
	}
	time.Sleep(time.Millisecond)
	return s.Conn.Get(ctx, path, w)
}

func (s stopping) Flush(ctx context.Context) error { return s.Conn.(drivers.Flusher).Flush(ctx) }

func has(warnings []metrics.Warning, code string) bool {
	return slices.ContainsFunc(warnings, func(w metrics.Warning) bool { return w.Code == code })
}

// TestClosedLoopCountsWhatIsInFlightAtTheEnd stops the service for the second half of a closed
// loop's window. At the end each client has an operation in flight that is as old as the stop. The
// run must count these operations with their age and doubt its times, and Little's law must not
// hold.
func TestClosedLoopCountsWhatIsInFlightAtTheEnd(t *testing.T) {
	for _, lanes := range []int{1, 4} {
		runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
			from := time.Now().Add(2 * time.Second)
			p := runtest.MixPlan(runtest.Hooked(s, func(c drivers.Conn) drivers.Conn { return stopping{c, from, from.Add(3 * time.Second)} }),
				workloads.MixSettings{Reads: 1, Keys: 10, InFlight: lanes})
			p.Clients, p.Warmup, p.Duration = 4, time.Second, 2*time.Second
			r := runtest.Measure(t, p)
			g := r.Generator
			if want := int64(4 * lanes); g.Unfinished != want || g.Overdue != want || g.Oldest < 990*time.Millisecond || g.Oldest > 1010*time.Millisecond {
				t.Errorf("%d lanes: %d in flight, %d of them overdue, for %v; want all for 1s", lanes, g.Unfinished, g.Overdue, g.Oldest)
			}
			if !has(r.Doubts, metrics.Unfinished) || !has(r.Warnings, metrics.LittlesLaw) {
				t.Errorf("%d lanes: doubts %v, warnings %v", lanes, r.Doubts, r.Warnings)
			}
		})
	}
}

// A stack is a lock in this process that serves the last client to ask first.
type stack struct {
	mu      sync.Mutex
	held    bool
	waiting []chan struct{}
}

type lifo struct{ *stack }

func (l lifo) Acquire(ctx context.Context) (context.Context, error) {
	l.mu.Lock()
	if !l.held {
		l.held = true
		l.mu.Unlock()
		return ctx, nil
	}
	turn := make(chan struct{})
	l.waiting = append(l.waiting, turn)
	l.mu.Unlock()
	select {
	case <-turn:
		return ctx, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (l lifo) Release(context.Context) error {
	time.Sleep(time.Microsecond) // so that the last holder waits again when the next is chosen
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held = len(l.waiting) > 0; l.held {
		last := len(l.waiting) - 1
		close(l.waiting[last])
		l.waiting = l.waiting[:last]
	}
	return nil
}

func (l lifo) Token() int64 { return drivers.NoSeq }

// TestLittlesLawWarnsOfUnfairForms checks a form that keeps some clients waiting for longer than
// the window. Its ended rounds make it look fast, and Little's law must expose that. The law must
// hold for a form that serves all clients.
func TestLittlesLawWarnsOfUnfairForms(t *testing.T) {
	for name, fair := range map[string]bool{"first come, first served": true, "last come, first served": false} {
		t.Run(name, func(t *testing.T) {
			runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
				last := lifo{&stack{}}
				p := runtest.LockPlan(s, func(c drivers.Conn, path string) recipe.Lock {
					if fair {
						return runtest.Predecessor(c, path)
					}
					return last
				})
				p.Settings.Hold, p.Warmup, p.Duration = 10*time.Millisecond, 105*time.Millisecond, 2*time.Second
				r := runtest.Measure(t, p)
				if r.Little == nil || r.Little.InProgress < 4.99 || r.Little.InProgress > 5.01 {
					t.Fatalf("%+v, want five clients in their turns at any time", r.Little)
				}
				if holds := r.Little.Holds(); holds != fair || has(r.Warnings, metrics.LittlesLaw) == fair {
					t.Errorf("%+v, warnings %v", *r.Little, r.Warnings)
				}
			})
		})
	}
}

// TestClosedBackgroundCountsWhatIsInFlightAtTheEnd checks that a background in a closed loop is
// checked like the run: operations in flight at the end are counted with their age, and Little's
// law does not hold.
func TestClosedBackgroundCountsWhatIsInFlightAtTheEnd(t *testing.T) {
	for _, stops := range []bool{true, false} {
		runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
			from := time.Now().Add(2 * time.Second)
			until := from.Add(3 * time.Second)
			if !stops {
				until = from
			}
			p := runtest.LockPlan(runtest.Hooked(s, func(c drivers.Conn) drivers.Conn { return stopping{c, from, until} }), runtest.Predecessor)
			p.Warmup, p.Duration = time.Second, 2*time.Second
			p.Background = load.Background(3, 0, workloads.MixSettings{Reads: 1, Keys: 10})
			r := runtest.Measure(t, p)
			b := r.Background
			if b.Little == nil || b.Little.InProgress < 2.99 || b.Little.InProgress > 3.01 {
				t.Fatalf("%+v, want three clients in their turns at any time", b.Little)
			}
			g := b.Generator
			if stops && (g.Unfinished != 3 || g.Overdue != 3 || g.Oldest < 990*time.Millisecond || g.Oldest > 1010*time.Millisecond) {
				t.Errorf("%+v, want three in flight for 1s", g)
			}
			if has(r.Doubts, metrics.Bystanders) != stops || has(r.Warnings, metrics.LittlesLaw) != stops || b.Little.Holds() == stops {
				t.Errorf("the service stops: %v; doubts %v, warnings %v, %+v", stops, r.Doubts, r.Warnings, b.Little)
			}
		})
	}
}
