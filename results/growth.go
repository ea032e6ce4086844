package results

import "math"

// Growth is how a form's cost per round grows with the number of clients N: as
// N to the power of the exponent. 0 is flat, 1 is what a herd does.
type Growth struct {
	Notifications *float64 // nil where there are none
	Operations    *float64 // reads and writes
}

// GrowthOf fits the growth of one form's settled costs, given by rising number
// of clients. It is nil below three levels, which are too few for a fit.
func GrowthOf(levels []Settled) *Growth {
	if len(levels) < 3 {
		return nil
	}
	return &Growth{Notifications: exponent(levels, notifications), Operations: exponent(levels, operations)}
}

func notifications(s Settled) (least int64, exact bool) { return s.Notifications.least() }

func operations(s Settled) (least int64, exact bool) {
	reads, exactly := s.Reads.least()
	writes, exact := s.Writes.least()
	return reads + writes, exact && exactly
}

// least is the count, or the least that it can be, where it is not determined.
func (e Exact) least() (n int64, exact bool) {
	if e.Most == nil {
		return e.Counted, true
	}
	return *e.Expected, false
}

// exponent fits log(cost of a round) = a + b·log(N) by least squares. A cost that
// is 0 somewhere does not grow as a power.
//
// Note: where more clients make more rounds, the cost of a round is taken to be
// what one more round adds, not the cost divided by the rounds. N−1 notifications
// in N rounds are flat, but (N−1)/N rises, and a fit of it over small N would
// call the recipe a small herd.
func exponent(levels []Settled, cost func(Settled) (int64, bool)) *float64 {
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

// perRoundAt is what a round costs at a level, and at how many clients that is.
// It is 0 clients at the first level if that has none before it to compare with.
func perRoundAt(levels []Settled, i int, cost func(Settled) (int64, bool)) (clients, each float64) {
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
