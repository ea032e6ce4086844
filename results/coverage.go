package results

import (
	"fmt"
	"strings"

	"github.com/stampede-bench/stampede/drivers/traffic"
	"github.com/stampede-bench/stampede/results/units"
)

// Incomplete says in words what traffic was not decoded although it could change a count, with a clause
// for each cause. It is "" if the observation has all of the traffic.
//
// Verdicts follow from it by one rule (figure.ObservationDoubt): what was not decoded can only add to a
// count.
//   - A count that is beyond its limit stays beyond it: fail (99).
//   - A count that is within its limit may be beyond it: invalid (97), never pass.
//   - Shares, percentiles and times may lie on either side of their limits: invalid (97).
func (o Observation) Incomplete() string {
	var clauses []string
	for _, u := range traffic.ThatCount(o.Observed.Traffic.Undecoded) {
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

// Losses says what was not seen, decoded or followed, so that counts may be too low, with a sentence for each
// reason.
func (o Observation) Losses() (all []string) {
	const beyond = " not followed: more than are kept"
	t := o.Observed.Traffic
	if incomplete := o.Incomplete(); incomplete != "" {
		all = append(all, "counts may be too low, as not all traffic was analysed: "+incomplete)
	}
	if t.Unfollowed > 0 {
		all = append(all, units.Count(int64(t.Unfollowed))+" watches were not followed: it is not known what they caused")
	}
	if unjoined := o.Unjoined(); unjoined != "" {
		all = append(all, unjoined)
	}
	for _, of := range []struct {
		n         int64
		one, then string
	}{
		{int64(t.Joined), "connection", " joined in the middle: what came before was not seen"},
		{t.Beyond.Connections, "connection", beyond},
		{t.Beyond.Sessions, "session", beyond},
		{t.Beyond.Nodes, "node", beyond},
		{t.Beyond.Requests, "request", beyond},
		{t.Beyond.Early, "change", " or notifications decided early"},
	} {
		if of.n > 0 {
			all = append(all, units.Plural(int(of.n), of.one)+of.then)
		}
	}
	return all
}

// Unjoined says that it is not known what sessions did when they were notified, "" if it is.
func (o Observation) Unjoined() string {
	n := o.Observed.Traffic.Unjoined
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("what %s led to is not known: nothing joins these watches to their clients' other connections",
		units.Plural(int(n), "notification"))
}

// Unreachable names the servers that the proxy could not connect clients to, with a sentence for each.
func (o Observation) Unreachable() (all []string) {
	for _, u := range o.Unreached {
		all = append(all, "the proxy could not reach "+u.Server+" for "+units.Plural(int(u.Connections), "connection")+": "+u.Error)
	}
	return all
}

// Ending says how the observed program ended, "" without one.
func (o Observation) Ending() string {
	switch {
	case o.Program == nil || o.Exit == nil:
		return ""
	case o.Signal != nil:
		return *o.Program + " was ended by a signal: " + *o.Signal
	}
	return fmt.Sprintf("%s ended with exit code %d", *o.Program, *o.Exit)
}
