package workloads_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/catalog"
	"github.com/stampede-bench/stampede/workloads/costmodel"
	"github.com/stampede-bench/stampede/workloads/load"
	"github.com/stampede-bench/stampede/workloads/runtest"
)

func background() workloads.Background {
	// no arrival is due exactly when the window opens or closes
	return load.Background(3, 400, workloads.MixSettings{Reads: 0.9, Keys: 20, Size: 100, Watchers: 1})
}

// TestBackgroundIsCountedByItself checks that a background does not affect the counts of the
// recipe: in every form, all identities that hold under any schedule hold beside a background too.
func TestBackgroundIsCountedByItself(t *testing.T) {
	for _, form := range catalog.Forms() {
		if form.Family == workloads.Library || form.Family == workloads.Load || form.Needs != "" {
			continue
		}
		t.Run(form.String(), func(t *testing.T) {
			runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
				r := runtest.Measure(t, workloads.Plan{Service: s, Form: form, Clients: 5, Seed: 1,
					Settings: workloads.Settings{Hold: 5 * time.Millisecond, Think: 5 * time.Millisecond},
					Warmup:   20500 * time.Microsecond, Duration: 300 * time.Millisecond, Background: background()})
				model, _ := costmodel.ModelOf(form.Recipe, form.Name)
				for _, i := range model.Identities {
					if left, right, holds := i.Check(r.Whole, r.WholeRounds, 5); !holds {
						t.Errorf("%s: %d and %d", i.Formula, left, right)
					}
				}
				if r.Rounds == 0 || r.Safety.Violations > 0 || r.Mix != nil {
					t.Errorf("%d rounds, %+v", r.Rounds, r.Safety)
				}
				checkBackground(t, r.Background)
			})
		})
	}
}

func checkBackground(t *testing.T, b *metrics.Record) {
	t.Helper()
	if b == nil {
		t.Fatal("there is no background in the record")
	}
	if g := b.Generator; g.Offered != 120 || b.Rounds != g.Offered || g.Skipped+g.Unfinished > 0 {
		t.Errorf("%d operations in the background, %+v; want all of 120", b.Rounds, g)
	}
	if b.Duration != 300*time.Millisecond || runtest.PhaseNames(b.Phases) != "read write " || b.Safety.Violations != 0 {
		t.Errorf("the background: %v, %s, %+v", b.Duration, runtest.PhaseNames(b.Phases), b.Safety)
	}
	if ops := b.Counts.Writes + b.Counts.Reads - b.Counts.Notifications; ops != 120 {
		t.Errorf("%d requests in the background's window that no watcher made, want 120", ops)
	}
}

// TestBackgroundInAClosedLoop does not run in a bubble: a background without a rate runs as fast
// as it can, and in a bubble no time would pass.
func TestBackgroundInAClosedLoop(t *testing.T) {
	s, err := backends.InProcess()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	p := runtest.LockPlan(s, runtest.Predecessor)
	p.Warmup, p.Duration, p.Rounds = 0, 0, 20
	p.Background = load.Background(2, 0, workloads.MixSettings{Reads: 0.5, Keys: 5})
	r := runtest.Measure(t, p)
	b := r.Background
	if b.Rounds == 0 || b.Generator.Offered != 0 || b.Mix.Reads == 0 || b.Mix.Writes == 0 {
		t.Errorf("%d operations, %+v, %+v", b.Rounds, *b.Mix, b.Generator)
	}
	if r.Whole.Lists != r.WholeRounds+r.Whole.WatchedExists {
		t.Errorf("%d lists for %d rounds and %d watches", r.Whole.Lists, r.WholeRounds, r.Whole.WatchedExists)
	}
}

// TestBackgroundSurvivesALostSession checks that a lost session of the background is reported and
// that its client continues with a new one.
func TestBackgroundSurvivesALostSession(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		var dialled atomic.Int64
		p := runtest.LockPlan(runtest.Hooked(s, func(c drivers.Conn) drivers.Conn {
			if dialled.Add(1) == 8 { // after the recipe's five and the admin sessions of both
				return loser{c, new(atomic.Int64), func() error { return c.Close() }}
			}
			return c
		}), runtest.Predecessor)
		p.Background = background()
		p.Background.Mix.Watchers = 0
		r := runtest.Measure(t, p)
		if n := r.Background.Errors[drivers.ErrSessionLost.Error()]; n != 1 || len(r.Errors) != 0 {
			t.Errorf("%d sessions of the background lost, want 1; the recipe's: %v", n, r.Errors)
		}
		lost := func(w metrics.Warning) bool {
			return w.Code == metrics.BackgroundSessionsLost && w.Numbers["sessions"] == 1
		}
		if !slices.ContainsFunc(r.Warnings, lost) || r.Disturbed {
			t.Errorf("%v, disturbed %v", r.Warnings, r.Disturbed)
		}
	})
}

// TestBackgroundThatFails checks that a failure of the background ends the run.
func TestBackgroundThatFails(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		var dialled atomic.Int64
		p := runtest.LockPlan(runtest.Hooked(s, func(c drivers.Conn) drivers.Conn {
			if dialled.Add(1) == 8 {
				return loser{c, new(atomic.Int64), func() error { return drivers.ErrRefused }}
			}
			return c
		}), runtest.Predecessor)
		p.Background = background()
		p.Background.Mix.Watchers = 0
		_, err := workloads.Run(t.Context(), p)
		if !errors.Is(err, drivers.ErrRefused) || !strings.Contains(err.Error(), "mix/background") {
			t.Errorf("error %v, want ErrRefused of mix/background", err)
		}
	})
}

// TestBackgroundsViolationsCount checks that the background's safety violations count as the
// run's.
func TestBackgroundsViolationsCount(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		p := runtest.LockPlan(runtest.Hooked(s, func(c drivers.Conn) drivers.Conn { return forgetful{c} }), runtest.Predecessor)
		p.Background = background()
		r := runtest.Measure(t, p)
		if r.Safety.Violations == 0 || !strings.HasPrefix(r.Safety.Details[0], "background: violation: client ") {
			t.Errorf("%+v, want the background's violations", r.Safety)
		}
	})
}

// A loser calls a function before its tenth read. If that returns an error the read fails with it.
type loser struct {
	drivers.Conn
	reads *atomic.Int64
	then  func() error
}

func (l loser) Get(ctx context.Context, path string, w drivers.Watch) ([]byte, drivers.Stat, error) {
	if l.reads.Add(1) == 10 {
		if err := l.then(); err != nil {
			return nil, drivers.Stat{}, err
		}
	}
	return l.Conn.Get(ctx, path, w)
}

func (l loser) Flush(ctx context.Context) error { return l.Conn.(drivers.Flusher).Flush(ctx) }

// A forgetful session reports version 0 for every node.
type forgetful struct{ drivers.Conn }

func (f forgetful) Get(ctx context.Context, path string, w drivers.Watch) ([]byte, drivers.Stat, error) {
	data, stat, err := f.Conn.Get(ctx, path, w)
	stat.Version = 0
	return data, stat, err
}

func (f forgetful) Flush(ctx context.Context) error { return f.Conn.(drivers.Flusher).Flush(ctx) }
