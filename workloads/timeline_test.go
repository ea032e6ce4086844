package workloads_test

import (
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/naive"
	"github.com/stampede-bench/stampede/workloads/recipe"
	"github.com/stampede-bench/stampede/workloads/runtest"
)

func oneNode(c drivers.Conn, path string) recipe.Lock { return naive.NewLock(c, path) }

// TestTimelineOfALock checks that the herd is at time zero of its timeline. In the naive form, 20
// clients use one lock: all but the holder are notified, read and write at the same moment, and
// nothing happens until the next release. The recipe wakes one client.
func TestTimelineOfALock(t *testing.T) {
	const clients = 20
	const hold = 30 * time.Millisecond
	for _, c := range []struct {
		name                         string
		open                         func(drivers.Conn, string) recipe.Lock
		notifications, reads, writes int64 // per release
	}{
		// The next holder creates its node at the first attempt. All clients that do not get the
		// lock, and the one that released it, fail to create it and watch again. The release is
		// one more write.
		{"naive", oneNode, clients - 1, clients - 1, clients + 1},
		// The next holder lists. The client that released the lock creates a node, lists, and
		// watches its predecessor.
		{"recipe", runtest.Predecessor, 1, 3, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
				p := runtest.LockPlan(s, c.open)
				p.Clients, p.Settings.Hold = clients, hold
				p.Warmup, p.Duration = 10*time.Millisecond, time.Second // releases are at 30, 60, …
				r := runtest.Measure(t, p)
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
