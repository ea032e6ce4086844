package workloads_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/check"
	"github.com/stampede-bench/stampede/workloads/divided"
	"github.com/stampede-bench/stampede/workloads/exchange"
	"github.com/stampede-bench/stampede/workloads/openloop"
	. "github.com/stampede-bench/stampede/workloads/runtest"
)

// A meeting is where the parts of a run wait for each other.
type meeting struct {
	mu    sync.Mutex
	size  int
	there map[workloads.Point]int
	all   map[workloads.Point]chan struct{}
	order []workloads.Point // in which all had come
}

func newMeeting(size int) *meeting {
	m := &meeting{size: size, there: map[workloads.Point]int{}, all: map[workloads.Point]chan struct{}{}}
	for _, p := range []workloads.Point{workloads.SessionsOpen, workloads.RoundsEnded, workloads.NotificationsIn} {
		m.all[p] = make(chan struct{})
	}
	return m
}

func (m *meeting) meet(ctx context.Context, at workloads.Point) error {
	m.mu.Lock()
	if m.there[at]++; m.there[at] == m.size {
		m.order = append(m.order, at)
		close(m.all[at])
	}
	m.mu.Unlock()
	select {
	case <-m.all[at]:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// runInParts runs the plan with its clients in two parts, as two processes would: 2 clients in the first.
func runInParts(t *testing.T, plan workloads.Plan, with func(*workloads.Part)) ([]*workloads.Part, []*metrics.Record) {
	t.Helper()
	site, err := workloads.NewSite(plan)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := site.Conclude(nil, nil); err != nil {
			t.Error(err)
		}
	}()
	if err := site.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	var parts []*workloads.Part
	records := make([]*metrics.Record, 2)
	var running sync.WaitGroup
	for i, at := range []exchange.Place{{Processes: 2, Count: 2}, {Process: 1, Processes: 2, First: 2, Count: plan.Clients - 2}} {
		p := workloads.NewPart(at, site.Base())
		with(p)
		parts = append(parts, p)
		running.Go(func() {
			var err error
			if records[i], err = workloads.RunPart(t.Context(), plan, p); err != nil {
				t.Error(err)
			}
		})
	}
	running.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return parts, records
}

// TestExtendedWindowsEndTogether runs two parts whose messages take 300 ms to the first and none to the second. Both
// extend their windows until enough rounds have ended in all. The windows end when they are due, or as late as the
// message that ended them: what an earlier message took does not add up.
func TestExtendedWindowsEndTogether(t *testing.T) {
	InBubble(t, func(t *testing.T, s drivers.Service) {
		plan := LockPlan(s, Predecessor)
		plan.Settings.Hold, plan.Duration, plan.LeastRounds, plan.DurationLimit = 100*time.Millisecond, time.Second, 25, time.Minute
		met, origin := newMeeting(2), time.Now()
		messages := []chan []byte{make(chan []byte, 100), make(chan []byte, 100)}
		_, records := runInParts(t, plan, func(p *workloads.Part) {
			own, others := messages[p.Exchange.Process], messages[1-p.Exchange.Process]
			p.Exchange = exchange.New(p.Exchange.Place, func(_ context.Context, text []byte) error {
				others <- text
				return nil
			}, func(ctx context.Context, take func([]byte) error) error {
				for {
					select {
					case text := <-own:
						if p.Exchange.Process == 0 {
							time.Sleep(300 * time.Millisecond)
						}
						if err := take(text); err != nil {
							return err
						}
					case <-ctx.Done():
						return nil
					}
				}
			})
			p.Steps, p.Meet = check.KeepSteps(sinceOf(origin)), met.meet
		})
		for i, r := range records {
			// Of 25 rounds at most 10 end in a second.
			if want := []time.Duration{3300 * time.Millisecond, 3 * time.Second}[i]; r.Duration != want {
				t.Errorf("the window of part %d lasted %v, want %v", i, r.Duration, want)
			}
		}
	})
}

// sinceOf returns a clock that started at origin.
func sinceOf(origin time.Time) func(time.Time) time.Duration {
	return func(at time.Time) time.Duration { return at.Sub(origin) }
}

// TestPartsOfALock runs one lock with its clients in two parts.
func TestPartsOfALock(t *testing.T) {
	InBubble(t, func(t *testing.T, s drivers.Service) {
		plan := LockPlan(s, Predecessor)
		plan.LeastRounds = 0
		met, origin := newMeeting(2), time.Now()
		since := sinceOf(origin)
		tapped := map[int]bool{}
		var mu sync.Mutex
		parts, records := runInParts(t, plan, func(p *workloads.Part) {
			p.Steps, p.Meet = check.KeepSteps(since), met.meet
			p.Probe = func(session int, probe drivers.Probe) drivers.Probe {
				mu.Lock()
				defer mu.Unlock()
				tapped[session] = true
				return probe
			}
		})
		if want := []workloads.Point{workloads.SessionsOpen, workloads.RoundsEnded, workloads.NotificationsIn}; !slices.Equal(met.order, want) {
			t.Errorf("the parts met at %v, want %v", met.order, want)
		}
		if len(tapped) != plan.Clients {
			t.Errorf("sessions %v are tapped, want all %d", tapped, plan.Clients)
		}
		var rounds, notifications int64
		var steps []check.TimedStep
		for i, r := range records {
			rounds, notifications = rounds+r.WholeRounds, notifications+r.Whole.Notifications
			for client, served := range r.Fairness.Served {
				own := client >= parts[i].First && client < parts[i].First+parts[i].Count
				if own != (served > 0) {
					t.Errorf("part %d served client %d %d times", i, client, served)
				}
			}
			for _, s := range parts[i].Steps.All() {
				steps = append(steps, check.TimedStep{Step: s, Earliest: s.At, Latest: s.At})
			}
		}
		if want := rounds - 1; notifications < want-int64(plan.Clients) || notifications > want {
			t.Errorf("%d notifications in %d rounds, want about one for each", notifications, rounds)
		}
		if _, ok := divided.NewWorkload(plan.Form, plan.Settings); !ok {
			t.Fatal("a lock is not divisible")
		}
		merged := *records[0]
		divided.Judge(plan, &merged, steps, check.Window{End: time.Hour})
		if s := merged.Safety; s.Checked != rounds || s.Violations > 0 || !s.Tokens {
			t.Errorf("%+v, want %d checks and no violation", s, rounds)
		}
		for _, p := range merged.Phases {
			if n := p.Service.TotalCount(); p.Name == "handoff" && n < rounds-int64(plan.Clients) {
				t.Errorf("%d hand-offs in %d rounds", n, rounds)
			}
		}
	})
}

// TestAPartThatCannotMeetFails ends a part whose other part is gone.
func TestAPartThatCannotMeetFails(t *testing.T) {
	InBubble(t, func(t *testing.T, s drivers.Service) {
		plan := LockPlan(s, Predecessor)
		site, err := workloads.NewSite(plan)
		if err != nil {
			t.Fatal(err)
		}
		defer site.Conclude(nil, nil)
		if err := site.Create(t.Context()); err != nil {
			t.Fatal(err)
		}
		gone := errors.New("gone")
		part := workloads.NewPart(exchange.Everywhere(), site.Base())
		part.Meet = func(_ context.Context, at workloads.Point) error {
			if at == workloads.RoundsEnded {
				return gone
			}
			return nil
		}
		if _, err := workloads.RunPart(t.Context(), plan, part); !errors.Is(err, gone) {
			t.Errorf("got %v, want %v", err, gone)
		}
	})
}

// TestAPartWhoseWindowIsNotDecidedEnds interrupts a part while it waits to hear when the window opens, in a
// closed and in an open loop. Its window has no length then.
func TestAPartWhoseWindowIsNotDecidedEnds(t *testing.T) {
	for _, rate := range []float64{0, 100} {
		InBubble(t, func(t *testing.T, s drivers.Service) {
			plan := LockPlan(s, Predecessor)
			plan.Open.Rate = openloop.PerSecond(rate)
			site, err := workloads.NewSite(plan)
			if err != nil {
				t.Fatal(err)
			}
			defer site.Conclude(nil, nil)
			if err := site.Create(t.Context()); err != nil {
				t.Fatal(err)
			}
			ctx, interrupt := context.WithCancel(t.Context())
			part := workloads.NewPart(exchange.Everywhere(), site.Base())
			part.Window = func(ctx context.Context, _ func() time.Time) (time.Time, error) {
				interrupt()
				return time.Time{}, ctx.Err()
			}
			var longest time.Duration
			plan.Progress = func(p workloads.Progress) { longest = max(longest, p.Elapsed) }
			r, err := workloads.RunPart(ctx, plan, part)
			if !errors.Is(err, workloads.ErrInterrupted) {
				t.Fatalf("rate %v: %v, want that it was interrupted", rate, err)
			}
			if longest > time.Second || r.Duration > time.Second {
				t.Errorf("rate %v: it tells of %v, and the window lasted %v", rate, longest, r.Duration)
			}
		})
	}
}
