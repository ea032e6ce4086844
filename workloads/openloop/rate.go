package openloop

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

// A Rate is a mean number of arrivals per second, which may change during a run. The zero
// Rate means no arrivals: a closed loop.
type Rate struct {
	levels []float64 // arrivals per second; unless ramp, steps of equal length
	ramp   bool      // rises or falls linearly from the first level to the last
}

// ParseRate parses "500" (arrivals per second), "100..1000" (rising or falling linearly
// over the run) or "100,200,400" (steps of equal length).
func ParseRate(text string) (Rate, error) {
	var r Rate
	words := strings.Split(text, ",")
	if first, last, ok := strings.Cut(text, ".."); ok {
		words, r.ramp = []string{first, last}, true
	}
	for _, w := range words {
		level, err := strconv.ParseFloat(strings.TrimSuffix(w, "/s"), 64)
		if err != nil || !(level > 0) || level > maxRate {
			return Rate{}, fmt.Errorf("rate %q: must be arrivals per second such as 500, a ramp such as 100..1000 or steps such as 100,200,400, at most %.0f", text, maxRate)
		}
		r.levels = append(r.levels, level)
	}
	return r, nil
}

// maxRate is higher than any generator can offer. Arrivals that nobody serves are counted one by one.
const maxRate = 1e6

// PerSecond returns a constant rate, for 0 the zero Rate.
func PerSecond(perSecond float64) Rate {
	if perSecond == 0 {
		return Rate{}
	}
	return Rate{levels: []float64{perSecond}}
}

// Open reports whether the rate is that of an open loop, not the zero Rate.
func (r Rate) Open() bool { return len(r.levels) > 0 }

// String returns the rate in the form that ParseRate reads.
func (r Rate) String() string {
	var words []string
	for _, level := range r.levels {
		words = append(words, strconv.FormatFloat(level, 'f', -1, 64))
	}
	if r.ramp {
		return strings.Join(words, "..")
	}
	return strings.Join(words, ",")
}

// Mean returns the mean rate over a whole run, in arrivals per second.
func (r Rate) Mean() float64 {
	if !r.Open() {
		return 0
	}
	sum := 0.0
	for _, level := range r.levels {
		sum += level
	}
	return sum / float64(len(r.levels))
}

// Expected returns the mean number of arrivals in the first t of a run of length total.
// Before the run the rate is that of its start, and after the run that of its end.
func (r Rate) Expected(t, total time.Duration) float64 {
	x := t.Seconds()
	switch {
	case !r.Open():
		return 0
	case t < 0:
		return x * r.levels[0]
	case t > total:
		return r.Expected(total, total) + (x-total.Seconds())*r.levels[len(r.levels)-1]
	case r.ramp:
		first, last := r.levels[0], r.levels[1]
		return first*x + (last-first)*x*x/2/total.Seconds()
	}
	step := total.Seconds() / float64(len(r.levels))
	sum := 0.0
	for i, level := range r.levels {
		sum += level * min(max(x-float64(i)*step, 0), step)
	}
	return sum
}

// When returns the time at which Expected reaches n: when the nth arrival is expected.
func (r Rate) When(n float64, total time.Duration) time.Duration {
	all := r.Expected(total, total)
	switch {
	case n < 0:
		return seconds(n / r.levels[0])
	case n >= all:
		return total + seconds((n-all)/r.levels[len(r.levels)-1])
	case r.ramp:
		return seconds(r.whenRising(n, total.Seconds()))
	}
	step := total.Seconds() / float64(len(r.levels))
	for i, level := range r.levels {
		if n < level*step {
			return seconds(float64(i)*step + n/level)
		}
		n -= level * step
	}
	return total // rounding took n past the last step
}

// whenRising solves first·x + (last−first)·x²/2/total = n for x, in a form that stays
// precise where first and last are nearly equal.
func (r Rate) whenRising(n, total float64) float64 {
	first, last := r.levels[0], r.levels[1]
	return 2 * n / (first + math.Sqrt(first*first+2*n*(last-first)/total))
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

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

// deviation returns the largest number by which the number of arrivals in a time may differ from their mean:
// what constant arrivals can, which take turns among processes, and six standard deviations of Poisson's.
func (s *schedule) deviation(mean float64) float64 {
	if s.rand == nil {
		return 2 + mean*1e-6
	}
	return 6*math.Sqrt(mean) + 6
}

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
