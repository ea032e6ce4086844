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
//
// Note: what is fitted is what one more client adds, not the cost divided by the
// rounds. N−1 notifications are flat per release, but (N−1)/N rises, and a fit
// of it over small N would call the recipe a small herd.
func GrowthOf(levels []Settled) *Growth {
	if len(levels) < 3 {
		return nil
	}
	return &Growth{
		Notifications: exponent(levels, func(s Settled) int64 { return s.Notifications.Counted }),
		Operations:    exponent(levels, func(s Settled) int64 { return s.Reads.Counted + s.Writes.Counted }),
	}
}

// exponent fits log(added per client) = a + b·log(N) by least squares.
func exponent(levels []Settled, cost func(Settled) int64) *float64 {
	var n, sx, sy, sxx, sxy float64
	for i := 1; i < len(levels); i++ {
		from, to := float64(levels[i-1].Clients), float64(levels[i].Clients)
		added := float64(cost(levels[i])-cost(levels[i-1])) / (to - from)
		if added <= 0 {
			return nil
		}
		x, y := math.Log((from+to)/2), math.Log(added)
		n, sx, sy, sxx, sxy = n+1, sx+x, sy+y, sxx+x*x, sxy+x*y
	}
	b := (n*sxy - sx*sy) / (n*sxx - sx*sx)
	return &b
}
