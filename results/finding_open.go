package results

import (
	"fmt"
	"math"
	"time"
)

// offers says for each form whether it kept up with the offered rate, at the largest number of
// clients.
func offers(runs []Run, shown columns) (lines []string) {
	most := 0
	for _, r := range runs {
		most = max(most, r.Clients)
	}
	for _, r := range medians(runs) {
		if r.open() && r.Clients == most {
			lines = append(lines, r.offer(runs, shown))
		}
	}
	return lines
}

// enough is the share of the offered rate that a form must complete to keep up.
const enough = 0.98

// inProgress returns how many arrivals may be in progress when the window closes if a form keeps
// up. By Little's law, the mean number in progress is the rate times the mean time of one arrival.
// inProgress adds three standard deviations of that number, and 1.
func (r Run) inProgress() float64 {
	response := r.latency(firstPhase(r))
	if response == nil {
		return 1
	}
	usual := r.OfferedPerS * (response.Mean/1e9 + r.HoldNS.Seconds())
	return 1 + usual + 3*math.Sqrt(usual)
}

// keepsUp says whether the run kept up with the offered rate.
func (r Run) keepsUp() string {
	line := fmt.Sprintf("Offered %s/s, %s/%s with %s", Rate(r.OfferedPerS), r.Recipe, r.Form, r.crowd())
	missing := (r.OfferedPerS - r.ThroughputPerS) * r.DurationNS.Seconds()
	if r.Generator.Lost() == 0 && (r.ThroughputPerS >= enough*r.OfferedPerS || missing <= r.inProgress()) {
		return line + " keeps up"
	}
	return line + fmt.Sprintf(" does %s/s and falls behind", Rate(r.ThroughputPerS))
}

func (r Run) offer(runs []Run, shown columns) string {
	line := r.keepsUp() + ": "
	first := firstPhase(r)
	waited := func(r Run) *Distribution { return r.latency(first) }
	p, name := shown.highest(runs, waited, r)
	if name == "" {
		return line + "too few rounds to say how long they took."
	}
	response, _ := shown.at(runs, waited, r, p)
	service, _ := shown.at(runs, func(r Run) *Distribution { return r.service(first) }, r, p)
	return line + fmt.Sprintf("%s %s is %s from when it was due, %s from the call.",
		label(first), name, Duration(time.Duration(response)), Duration(time.Duration(service)))
}
