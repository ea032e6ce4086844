package workloads_test

import (
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/naive"
	"github.com/stampede-bench/stampede/workloads"
)

func oneNode(c drivers.Conn, path string) workloads.Lock { return naive.NewLock(c, path) }

// The herd stands at zero of its time line: of 20 clients that wait for one lock
// all but the holder are told, look and write at the same moment, and nothing
// happens until the next release. The recipe wakes one.
func TestTimelineOfALock(t *testing.T) {
	const clients = 20
	const hold = 30 * time.Millisecond
	for _, c := range []struct {
		name                         string
		open                         func(drivers.Conn, string) workloads.Lock
		notifications, reads, writes int64 // of one release
	}{
		// The next holder creates its node at first try; all who do not get the
		// lock, and the one who gave it up, fail to and watch again. And the
		// release is a write.
		{"naive", oneNode, clients - 1, clients - 1, clients + 1},
		// The next holder lists, and whoever gave the lock up creates a node,
		// lists, and watches the last.
		{"recipe", predecessor, 1, 3, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s drivers.Service) {
				p := plan(s, c.open)
				p.Clients, p.Settings.Hold = clients, hold
				p.Warmup, p.Duration = 10*time.Millisecond, time.Second // releases are at 30, 60, …
				r, err := workloads.Run(t.Context(), p)
				if err != nil {
					t.Fatal(err)
				}
				l := r.Herd.Timeline
				if l.Triggers != 30 { // at 30, 60, … 900: the window ends at 1,010
					t.Errorf("%d triggers, want 30", l.Triggers)
				}
				only := func(what string, bins [metrics.TimelineBins]int64, want int64) {
					for i, n := range bins {
						at, want := l.From+time.Duration(i)*l.Bin, want*l.Triggers
						if at < 0 || at%hold != 0 {
							want = 0
						}
						if n != want {
							t.Errorf("%s %v after %d releases: %d, want %d", what, at, l.Triggers, n, want)
						}
					}
				}
				only("notifications", l.Notifications, c.notifications)
				only("reads", l.Reads, c.reads)
				only("writes", l.Writes, c.writes)
			})
		})
	}
}
