package workloads

import (
	"time"

	"github.com/stampede-bench/stampede/metrics"
)

// Follow traces the next write that wakes a client, instead of an earlier one; see
// [metrics.Meter.Follow] for its cost.
func (l *Live) Follow() { l.runner.crew.meter.Follow() }

// Unfollow stops tracing writes.
func (l *Live) Unfollow() { l.runner.crew.meter.Unfollow() }

// Woken returns what the traced write did to each session, by seat: the sessions of the clients,
// of a leader and of observers. drain is the time from the first notification to the last.
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
