package workloads

import (
	"time"

	"github.com/stampede-bench/stampede/metrics"
)

// Follow follows the next write that wakes somebody, in place of an earlier one;
// see [metrics.Meter.Follow] for what that costs.
func (l *Live) Follow() { l.runner.crew.meter.Follow() }

// Unfollow follows no write any more.
func (l *Live) Unfollow() { l.runner.crew.meter.Unfollow() }

// Woken tells what the write that is followed did to each session that takes part,
// by seat: the clients', and those of who leads or looks on. The drain is from the
// first that was told to the last.
func (l *Live) Woken() (seats []metrics.Fate, drain time.Duration) {
	seats = make([]metrics.Fate, len(l.runner.crew.seats))
	f := l.runner.crew.meter.Followed()
	for _, w := range f.Wakeups {
		if at, ok := l.seats[w.Session]; ok {
			seats[at] = w.Fate
		}
	}
	return seats, f.Drain
}
