package live

import (
	"time"

	"github.com/stampede-bench/stampede/metrics"
)

// mostPoints is the largest number of points in a time line: more are indistinguishable on a
// phone.
const mostPoints = 120

// shortest is the shortest time for which a rate is shown: the last interval of a run may be
// almost empty.
const shortest = 50 * time.Millisecond

// along returns notifications and operations per second along the window. For a run in progress
// it leaves out the latest interval, whose end is not known.
func along(r metrics.Record, inProgress bool) (notifications, operations []int) {
	var edges []time.Duration
	for _, i := range r.Intervals {
		edges = append(edges, i.Start)
	}
	if !inProgress {
		edges = append(edges, r.Duration)
	}
	many := 1 + len(edges)/mostPoints // intervals per point
	for i := 0; i < len(edges)-1; i += many {
		end := min(i+many, len(edges)-1)
		var notified, asked int64
		for _, part := range r.Intervals[i:end] {
			notified += part.Notifications
			asked += part.Reads + part.Writes
		}
		if took := edges[end] - edges[i]; took >= shortest {
			notifications = append(notifications, int(float64(notified)/took.Seconds()))
			operations = append(operations, int(float64(asked)/took.Seconds()))
		}
	}
	return notifications, operations
}
