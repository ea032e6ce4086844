package openloop

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stampede-bench/stampede/internal/bubble"
)

// TestProgressOfAnOpenLoop checks that an arrival that a client waits for does not count as offered
// until it is due, and that arrivals for which no client is free
// wait, with a lag that counts from their due time.
func TestProgressOfAnOpenLoop(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		p := planned(Options{Rate: PerSecond(100)}, 0, time.Minute, 1)
		ticket := p.Ticket()
		next := func() {
			if _, ok := ticket.Next(t.Context()); !ok {
				t.Fatal("there is no next arrival")
			}
		}
		for _, step := range []struct {
			what string
			do   func()
			want Progress
		}{
			{"nothing is due yet", func() { time.Sleep(5 * time.Millisecond) }, Progress{}},
			{"the first is under way, and was on time", next, Progress{Counts: Counts{Offered: 1, Unfinished: 1}}},
			{"ten more wait for as long as it takes", func() { time.Sleep(105 * time.Millisecond) },
				Progress{Counts: Counts{Offered: 1, Unfinished: 1}, Waiting: 10, Lag: 95 * time.Millisecond}},
			{"the second is late, and the first is done", func() { ticket.Finish(); next() },
				Progress{Counts: Counts{Offered: 2, Late: 1, Completed: 1, Unfinished: 1}, Waiting: 9, Lag: 85 * time.Millisecond}},
			{"at the end arrivals that no client took are skipped", func() { ticket.Finish(); p.End() },
				Progress{Counts: Counts{Offered: 11, Late: 10, Completed: 2, Skipped: 9}}},
		} {
			step.do()
			if got := p.Progress(); got != step.want {
				t.Errorf("%s: %+v, want %+v", step.what, got, step.want)
			}
		}
		if got, want := p.Progress().Counts, p.Counts(); got != want {
			t.Errorf("in the end %+v stand, and %+v are counted", got, want)
		}
	})
}

// TestStandingNeverFalls checks that no count decreases during an open loop, except Unfinished.
func TestStandingNeverFalls(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		p := planned(Options{Rate: PerSecond(100), Arrival: Poisson}, time.Second, 10*time.Second, 1)
		for range 3 {
			go func() {
				for ticket := p.Ticket(); ; time.Sleep(40 * time.Millisecond) {
					if _, ok := ticket.Next(t.Context()); !ok {
						return
					}
				}
			}()
		}
		var last Progress
		look := func() {
			now := p.Progress()
			if now.Offered < last.Offered || now.Late < last.Late || now.Skipped < last.Skipped || now.Unfinished < 0 {
				t.Errorf("%+v after %+v", now, last)
			}
			last = now
		}
		for range 1100 {
			time.Sleep(10 * time.Millisecond)
			look()
		}
		p.End()
		synctest.Wait()
		if look(); last.Offered < 800 || last.Skipped < 100 {
			t.Errorf("%+v, want about 1,000 offered, more than three can do", last)
		}
		time.Sleep(time.Second) // until all arrivals have ended
		if look(); last.Counts != p.Counts() {
			t.Errorf("in the end %+v stand, and %+v are counted", last, p.Counts())
		}
	})
}
