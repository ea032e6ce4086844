package results

import (
	"strings"

	"github.com/stampede-bench/stampede/drivers/traffic"
	"github.com/stampede-bench/stampede/results/units"
)

// Incomplete says in words what traffic was not decoded although it could change a count, with a clause for each cause.
// It is "" if the observation has all of the traffic.
//
// Verdicts follow from it by one rule (figure.ObservationDoubt): what was not decoded can only add to a count.
//   - A count that is beyond its limit stays beyond it: fail (99).
//   - A count that is within its limit may be beyond it: invalid (97), never pass.
//   - Shares, percentiles and times may lie on either side of their limits: invalid (97).
func (o Observation) Incomplete() string {
	var clauses []string
	for _, u := range o.Observed.Traffic.Missing() {
		clauses = append(clauses, clause(u))
	}
	return strings.Join(clauses, "; ")
}

// clause says how much was not decoded, and why.
func clause(u traffic.Undecoded) string {
	var amount []string
	if u.Bytes > 0 {
		amount = append(amount, units.Bytes(u.Bytes))
	}
	if u.Packets > 0 {
		amount = append(amount, units.Plural(int(u.Packets), "packet"))
	}
	if u.Connections > 0 {
		amount = append(amount, units.Plural(int(u.Connections), "connection"))
	}
	text := u.Cause.Description()
	if len(amount) > 0 {
		text = strings.Join(amount, " of ") + ": " + text
	}
	if len(u.Names) > 0 {
		text += " " + strings.Join(u.Names, ", ")
	}
	return text
}
