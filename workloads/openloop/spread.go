package openloop

import (
	"math"
	"math/rand/v2"
)

// Spread returns a function that tells for each arrival of a run, in order, which of n takers it is for, from
// 0. Of each n constant arrivals in a row every taker gets one, in an order in which takers with adjacent
// numbers are far apart. Poisson arrivals are for any taker, so that those of each taker are a Poisson process
// too.
func Spread(arrival Arrival, seed uint64, n int) func() int {
	if arrival == Poisson {
		r := rand.New(rand.NewPCG(seed, 1))
		return func() int { return r.IntN(n) }
	}
	stride := strideOf(n)
	next := 0
	return func() int {
		taker := next
		next = (next + stride) % n
		return taker
	}
}

// strideOf returns the number nearest to the golden section of n that has no divisor in common with n.
func strideOf(n int) int {
	for stride := max(int(math.Round(float64(n)/math.Phi)), 1); ; stride++ {
		if gcd(stride, n) == 1 {
			return stride % max(n, 2)
		}
	}
}

func gcd(a, b int) int {
	for b > 0 {
		a, b = b, a%b
	}
	return a
}
