package results

import (
	"fmt"
	"time"
)

// offers says of each form whether it kept up with the rate that was offered to
// the most clients.
func offers(runs []Run) (lines []string) {
	most := 0
	for _, r := range runs {
		most = max(most, r.Clients)
	}
	for _, r := range runs {
		if r.open() && r.Clients == most {
			lines = append(lines, r.offer())
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

func (r Run) offer() string {
	line := r.keepsUp() + ": "
	first := firstPhase(r)
	waited, percentile := highest(r.latency(first))
	took, _ := highest(r.service(first))
	if percentile == "" {
		return line + "too few rounds to say how long they took."
	}
	return line + fmt.Sprintf("%s %s is %s from when it was due, %s from the call.",
		label(first), percentile, Duration(waited), Duration(took))
}

// highest is the highest percentile that there are enough observations for, and
// its name; "" if there is none.
func highest(d *Distribution) (time.Duration, string) {
	if d == nil {
		return 0, ""
	}
	for _, p := range []struct {
		name string
		at   *int64
	}{{"p99", d.P99}, {"p90", d.P90}, {"p50", d.P50}} {
		if p.at != nil {
			return time.Duration(*p.at), p.name
		}
	}
	return 0, ""
}
