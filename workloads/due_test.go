package workloads

import (
	"testing"
	"time"

	"github.com/stampede-bench/stampede/internal/bubble"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads/openloop"
)

// TestAnArrivalBelongsToTheWindowInWhichItWasDue wakes clients so late that the window has opened or closed since their
// arrivals were due. What a client hands to another one belongs to the window if its arrival does.
func TestAnArrivalBelongsToTheWindowInWhichItWasDue(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		const warmup, length = 100 * time.Millisecond, time.Second
		opens := time.Now().Add(warmup)
		window := metrics.NewWindow()
		window.Open(opens)
		window.Close(opens.Add(length))
		p := openloop.New(openloop.Options{Rate: openloop.PerSecond(50), Arrival: openloop.Constant}, window,
			openloop.OwnArrivals{Origin: opens, Mine: func() bool { return true }, Share: 1}, warmup, length, 1)
		s := &Slot{window: window, ticket: p.Ticket()}
		due := 0
		for due < 50 {
			at, ok := s.ticket.Next(t.Context())
			if !ok {
				t.Fatalf("%d arrivals, and no more", due)
			}
			woke := at.Add(2 * length) // the timer fires that late
			want := !at.Before(opens) && at.Before(opens.Add(length))
			if got := s.DueInWindow(woke); got != want {
				t.Errorf("due %v after the opening: %v, want %v", at.Sub(opens), got, want)
			}
			if want {
				due++
			}
		}
		closed := &Slot{window: window}
		for at, want := range map[time.Duration]bool{-time.Nanosecond: false, 0: true, length - time.Nanosecond: true, length: false} {
			if got := closed.DueInWindow(opens.Add(at)); got != want {
				t.Errorf("without an arrival, %v after the opening: %v, want %v", at, got, want)
			}
		}
	})
}
