package openloop

import (
	"math/rand/v2"
	"time"
)

// An Arrival is an arrival process.
type Arrival string

const (
	// Constant arrivals are evenly spaced.
	Constant Arrival = "constant"
	// Poisson arrivals are independent of each other, like those of many
	// independent users.
	Poisson Arrival = "poisson"
)

// Arrivals returns all arrival processes.
func Arrivals() []Arrival { return []Arrival{Constant, Poisson} }

// A schedule computes when each arrival is due, relative to the start of a run's
// measured window.
type schedule struct {
	rate  Rate
	total time.Duration // of the window
	rand  *rand.Rand    // nil for Constant
	count float64       // expected number of arrivals up to the last one returned
}

func newSchedule(rate Rate, arrival Arrival, warmup, total time.Duration, seed uint64) *schedule {
	s := &schedule{rate: rate, total: total, count: rate.Expected(-warmup, total)}
	if arrival == Poisson {
		s.rand = rand.New(rand.NewPCG(seed, 0))
	}
	return s
}

// next returns when the next arrival is due.
func (s *schedule) next() time.Duration {
	if s.rand == nil {
		s.count++
	} else {
		s.count += s.rand.ExpFloat64()
	}
	return s.rate.When(s.count, s.total)
}
