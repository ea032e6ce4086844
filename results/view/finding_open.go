package view

import (
	"fmt"
	"math"
	"time"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/levels"
	"github.com/stampede-bench/stampede/results/units"
)

// offers says for each form whether it kept up with the offered rate, at the largest number of
// clients.
func offers(runs []results.Run, shown columns) (lines []string) {
	most := 0
	for _, r := range runs {
		most = max(most, r.Clients)
	}
	for _, r := range levels.Medians(runs) {
		if r.IsOpen() && r.Clients == most {
			lines = append(lines, offer(r, runs, shown))
		}
	}
	return lines
}

// enough is the share of the offered rate that a form must complete to keep up.
const enough = 0.98

// inProgress returns how many arrivals may be in progress when the window closes if a form keeps
// up. By Little's law, the mean number in progress is the rate times the mean time of one arrival.
// inProgress adds three standard deviations of that number, and 1.
func inProgress(r results.Run) float64 {
	response := r.Times(results.FirstPhase(r))
	if response == nil {
		return 1
	}
	usual := r.OfferedPerS * (response.Mean/1e9 + r.HoldNS.Seconds())
	return 1 + usual + 3*math.Sqrt(usual)
}

// keepsUp says whether the run kept up with the offered rate.
func keepsUp(r results.Run) string {
	line := fmt.Sprintf("Offered %s/s, %s/%s with %s", units.Rate(r.OfferedPerS), r.Recipe, r.Form, levels.Crowd(r))
	missing := (r.OfferedPerS - r.ThroughputPerS) * r.DurationNS.Seconds()
	if r.Generator.Lost() == 0 && (r.ThroughputPerS >= enough*r.OfferedPerS || missing <= inProgress(r)) {
		return line + " keeps up"
	}
	return line + fmt.Sprintf(" does %s/s and falls behind", units.Rate(r.ThroughputPerS))
}

func offer(r results.Run, runs []results.Run, shown columns) string {
	line := keepsUp(r) + ": "
	first := results.FirstPhase(r)
	waited := func(r results.Run) *results.Distribution { return r.Times(first) }
	p, name := shown.highest(runs, waited, r)
	if name == "" {
		return line + "too few rounds to say how long they took."
	}
	response, _ := shown.at(runs, waited, r, p)
	service, _ := shown.at(runs, func(r results.Run) *results.Distribution { return r.ServiceTimes(first) }, r, p)
	return line + fmt.Sprintf("%s %s is %s from when it was due, %s from the call.",
		Label(first), name, units.Duration(time.Duration(response)), units.Duration(time.Duration(service)))
}
