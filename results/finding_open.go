package results

import (
	"fmt"
	"time"
)

// offers says of each form whether it kept up with the rate that was offered to
// the most clients.
func offers(runs []Run, shown columns) (lines []string) {
	most := 0
	for _, r := range runs {
		most = max(most, r.Clients)
	}
	for _, r := range runs {
		if r.open() && r.Clients == most {
			lines = append(lines, r.offer(runs, shown))
		}
	}
	return lines
}

// enough is the share of the rate offered that a form which keeps up does: what
// is under way at the end is missing.
const enough = 0.98

// keepsUp says whether the run did.
func (r Run) keepsUp() string {
	line := fmt.Sprintf("Offered %s/s, %s/%s with %s", Rate(r.OfferedPerS), r.Recipe, r.Form, r.crowd())
	g := r.Generator
	if g.Skipped+g.Unfinished == 0 && r.ThroughputPerS >= enough*r.OfferedPerS {
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
	response, _ := waited(r).At(p)
	service, _ := r.service(first).At(p)
	return line + fmt.Sprintf("%s %s is %s from when it was due, %s from the call.",
		label(first), name, Duration(time.Duration(response)), Duration(time.Duration(service)))
}
