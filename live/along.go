package live

import (
	"time"

	"github.com/stampede-bench/stampede/metrics"
)

// mostPoints is how many points a time line has at most: more cannot be told apart
// on a phone.
const mostPoints = 120

// shortest is the least of time that a rate can be told of: the last interval of a
// run may be next to nothing.
const shortest = 50 * time.Millisecond

// along are notifications and operations per second along the window. Of a run that
// goes on the latest interval is left out: it is not known when it ended.
func along(r metrics.Record, goesOn bool) (notifications, operations []int) {
	var edges []time.Duration
	for _, i := range r.Intervals {
		edges = append(edges, i.Start)
	}
	if !goesOn {
		edges = append(edges, r.Duration)
	}
	many := 1 + len(edges)/mostPoints // intervals to a point
	for i := 0; i < len(edges)-1; i += many {
		end := min(i+many, len(edges)-1)
		var told, asked int64
		for _, part := range r.Intervals[i:end] {
			told += part.Notifications
			asked += part.Reads + part.Writes
		}
		if took := edges[end] - edges[i]; took >= shortest {
			notifications = append(notifications, int(float64(told)/took.Seconds()))
			operations = append(operations, int(float64(asked)/took.Seconds()))
		}
	}
	return notifications, operations
}
