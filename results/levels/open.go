package levels

import (
	"math"

	"github.com/stampede-bench/stampede/results"
)

// enough is the share of the offered rate that a form must complete to keep up.
const enough = 0.98

// inProgress returns how many arrivals may be in progress when the window closes if a form keeps
// up. By Little's law, the mean number in progress is the rate times the mean time that a client takes for one: an
// arrival that waits for a client is not in progress. inProgress adds three standard deviations of that number, and 1.
func inProgress(r results.Run) float64 {
	service := r.ServiceTimes(results.FirstPhase(r))
	if service == nil {
		return 1
	}
	usual := r.OfferedPerS * (service.Mean/1e9 + r.HoldNS.Seconds())
	return 1 + usual + 3*math.Sqrt(usual)
}

// KeepsUp reports whether a run in an open loop completed what was offered, but for what may have been in progress.
func KeepsUp(r results.Run) bool {
	missing := (r.OfferedPerS - r.ThroughputPerS) * r.DurationNS.Seconds()
	return r.Generator.Lost() == 0 && (r.ThroughputPerS >= enough*r.OfferedPerS || missing <= inProgress(r))
}
