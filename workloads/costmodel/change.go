package costmodel

import (
	"fmt"
	"math"
	"strings"
)

// A Change is the settled cost of one round, such as one change of leader, with N clients
// present: what the last client adds to a run, per round that it adds. In a queue, the last
// client adds one item. Where a round is an update, it is what one more update adds. Where
// a run is one round, it is the whole run.
type Change struct {
	Notifications, Reads, Writes Polynomial
	// Most, if set, has the upper bounds; see [Expected].
	Most *Change
}

// A Polynomial is a count as a polynomial of N, at most of degree 2, for N of at least 2.
type Polynomial struct {
	constant, linear, square float64
}

// ChangeOf returns the cost of one round of the recipe in a form with this model, or false
// if it is not a polynomial of N. params returns the parameters of a run of N clients.
func (m Model) ChangeOf(recipe string, params func(clients int) Params) (Change, bool) {
	least, ok := m.changeOf(recipe, params, func(e Expected) Expected { return e })
	if !ok || m.Settled(params(samples[0])).Most == nil {
		return least, ok
	}
	most, ok := m.changeOf(recipe, params, Expected.Upper)
	least.Most = &most
	return least, ok
}

func (m Model) changeOf(recipe string, params func(int) Params, bound func(Expected) Expected) (c Change, ok bool) {
	per := func(count func(Expected) Term) Polynomial {
		var values [len(samples)]float64
		for i, n := range samples {
			values[i] = m.perRound(recipe, params, n, func(e Expected) int64 { return count(bound(e)).Value })
		}
		g, fits := fit(values)
		ok = ok && fits
		return g
	}
	ok = true
	c.Notifications = per(func(e Expected) Term { return e.Notifications })
	c.Reads = per(func(e Expected) Term { return e.Reads })
	c.Writes = per(func(e Expected) Term { return e.Writes })
	return c, ok
}

// perRound returns what one round costs with n clients.
func (m Model) perRound(recipe string, params func(int) Params, n int, count func(Expected) int64) float64 {
	p, fewer, updated := params(n), params(n-1), params(n)
	updated.Updates++
	rounds, known := Rounds(recipe, p)
	before, _ := Rounds(recipe, fewer)
	after, _ := Rounds(recipe, updated)
	switch cost := func(p Params) float64 { return float64(count(m.Settled(p))) }; {
	case !known: // one more item for one more consumer of a queue
		return cost(p) - cost(fewer)
	case rounds > before:
		return (cost(p) - cost(fewer)) / float64(rounds-before)
	case after > rounds:
		return (cost(updated) - cost(p)) / float64(after-rounds)
	default:
		return cost(p) / float64(rounds)
	}
}

// samples are the numbers of clients from which a polynomial is found, and then those with
// which it is checked.
var samples = [...]int{2, 3, 4, 8, 64}

// fit returns the polynomial through the first three values, and whether it has the others.
func fit(values [len(samples)]float64) (g Polynomial, fits bool) {
	first, second := values[1]-values[0], values[2]-values[1]
	g.square = (second - first) / 2
	g.linear = first - 5*g.square // 3² − 2² = 5
	g.constant = values[0] - 2*g.linear - 4*g.square
	fits = true
	for i, n := range samples {
		fits = fits && math.Abs(g.Value(n)-values[i]) < 1e-6
	}
	return g, fits
}

// Line returns the polynomial each·N + fixed.
func Line(each, fixed float64) Polynomial { return Polynomial{constant: fixed, linear: each} }

// Value returns the count with n clients.
func (g Polynomial) Value(n int) float64 {
	return g.constant + g.linear*float64(n) + g.square*float64(n)*float64(n)
}

// String returns the formula, such as "N−1" or "0.5N²+N".
func (g Polynomial) String() string {
	var text strings.Builder
	for _, part := range []struct {
		factor float64
		power  string
	}{{g.square, "N²"}, {g.linear, "N"}, {g.constant, ""}} {
		if part.factor == 0 {
			continue
		}
		switch {
		case part.factor < 0:
			text.WriteString("−")
		case text.Len() > 0:
			text.WriteString("+")
		}
		if size := math.Abs(part.factor); size != 1 || part.power == "" {
			fmt.Fprintf(&text, "%g", size)
		}
		text.WriteString(part.power)
	}
	if text.Len() == 0 {
		return "0"
	}
	return text.String()
}

// Rounds returns the number of the recipe's rounds in a settled run, or false where the
// number depends on which client is faster.
func Rounds(recipe string, p Params) (int64, bool) {
	switch recipe {
	case "lock", "shared-lock", "revocable-lock", "priority-lock", "election":
		return p.Clients, true // one turn per client
	case "barrier", "double-barrier", "two-phase-commit", "reconnect":
		return 1, true // one round for all clients
	case "config", "names", "fanout":
		return p.Updates, true
	case "member-state":
		return p.Clients * p.Updates, true // each client makes each update
	case "group", "mutual-watch":
		return 2 * p.Clients, true // each client joins and leaves
	case "mirror":
		return 3 * p.Updates, true // a node is set, another created and deleted
	}
	return 0, false
}

// NotificationsPerRound returns the notifications of one round with all clients present, at
// rest. Where each client adds rounds, it is what the last client adds, per round that it
// adds. The mean over all rounds would be too low: few clients wait in the first and the
// last rounds, so it is less than the cost of a round under load. NotificationsPerRound
// returns false where the model does not determine the number.
func (m Model) NotificationsPerRound(recipe string, p Params) (float64, bool) {
	without := p
	without.Clients--
	rounds, known := Rounds(recipe, p)
	before, _ := Rounds(recipe, without)
	if !known || without.Clients < max(1, without.Writers) {
		return 0, false
	}
	all, fewer := m.Settled(p), m.Settled(without)
	if all.Most != nil || fewer.Most != nil {
		return 0, false
	}
	if rounds == before {
		return float64(all.Notifications.Value) / float64(rounds), true
	}
	return float64(all.Notifications.Value-fewer.Notifications.Value) / float64(rounds-before), true
}
