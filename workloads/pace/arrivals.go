package pace

import (
	"math/rand/v2"
	"time"
)

// An Arrival is a way in which arrivals of a rate come.
type Arrival string

const (
	// Constant arrivals come evenly, one after the other.
	Constant Arrival = "constant"
	// Poisson arrivals come independently of each other, as those of many
	// people do.
	Poisson Arrival = "poisson"
)

// Arrivals are all ways.
func Arrivals() []Arrival { return []Arrival{Constant, Poisson} }

// A schedule tells when one arrival after the other is due, counted from the
// beginning of a run's measured window.
type schedule struct {
	rate  Rate
	total time.Duration // of the window
	rand  *rand.Rand    // nil for Constant
	count float64       // arrivals expected until the last one that was told
}

func newSchedule(rate Rate, arrival Arrival, warmup, total time.Duration, seed uint64) *schedule {
	s := &schedule{rate: rate, total: total, count: rate.Expected(-warmup, total)}
	if arrival == Poisson {
		s.rand = rand.New(rand.NewPCG(seed, 0))
	}
	return s
}

// next is when the next arrival is due.
func (s *schedule) next() time.Duration {
	if s.rand == nil {
		s.count++
	} else {
		s.count += s.rand.ExpFloat64()
	}
	return s.rate.When(s.count, s.total)
}
