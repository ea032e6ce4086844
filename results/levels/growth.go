package levels

import (
	"math"

	"github.com/stampede-bench/stampede/results"
)

// Growth says how a form's cost per round grows with the number of clients N, as the exponent of a
// power of N. 0 is flat; 1 is the growth of a herd.
type Growth struct {
	Notifications *float64 // nil if a level has none
	Operations    *float64 // reads and writes
}

// GrowthOf fits the growth of one form's settled costs, given by increasing number of clients. It
// returns nil for fewer than three levels, which are too few for a fit.
func GrowthOf(levels []results.Settled) *Growth {
	if len(levels) < 3 {
		return nil
	}
	return &Growth{Notifications: exponent(levels, NotificationsOf), Operations: exponent(levels, OperationsOf)}
}

func NotificationsOf(s results.Settled) (least int64, exact bool) { return leastCount(s.Notifications) }

func OperationsOf(s results.Settled) (least int64, exact bool) {
	reads, exactly := leastCount(s.Reads)
	writes, exact := leastCount(s.Writes)
	return reads + writes, exact && exactly
}

// leastCount returns the count, or its lower bound if the count is not determined.
func leastCount(e results.Exact) (n int64, exact bool) {
	if e.Most == nil {
		return e.Counted, true
	}
	return *e.Expected, false
}

// exponent fits log(cost of a round) = a + b·log(N) by least squares. It returns nil for a cost that
// is 0 at some level, since such a cost does not grow as a power.
//
// Note: where more clients make more rounds, the cost of a round is the cost that one more round adds,
// not the total cost divided by the number of rounds. N−1 notifications in N rounds are flat, but
// (N−1)/N increases with N, and a fit of it over small N would report a small herd.
func exponent(levels []results.Settled, cost func(results.Settled) (int64, bool)) *float64 {
	var n, sx, sy, sxx, sxy float64
	for i := range levels {
		at, each := perRoundAt(levels, i, cost)
		if at == 0 {
			continue
		}
		if each <= 0 {
			return nil
		}
		x, y := math.Log(at), math.Log(each)
		n, sx, sy, sxx, sxy = n+1, sx+x, sy+y, sxx+x*x, sxy+x*y
	}
	b := (n*sxy - sx*sy) / (n*sxx - sx*sx)
	return &b
}

// perRoundAt returns the cost of a round at a level, and the number of clients it applies to. If the
// cost is that of an added round, the first level has no earlier one to compare with: perRoundAt
// then returns 0 clients.
func perRoundAt(levels []results.Settled, i int, cost func(results.Settled) (int64, bool)) (clients, each float64) {
	all, _ := cost(levels[i])
	if levels[0].Rounds == levels[1].Rounds {
		return float64(levels[i].Clients), float64(all) / float64(max(levels[i].Rounds, 1))
	}
	if i == 0 {
		return 0, 0
	}
	from, to := levels[i-1], levels[i]
	before, _ := cost(from)
	return float64(from.Clients+to.Clients) / 2, float64(all-before) / float64(to.Rounds-from.Rounds)
}
