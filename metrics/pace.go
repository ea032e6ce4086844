package metrics

import "time"

const (
	// leastStall is the shortest time without an end that is a stall, stallFactor how many times longer
	// it must be than the mean, and stallTurns how many times longer than the time between bursts of
	// ends. The times between arrivals of a Poisson process are rarely 20 times the mean.
	leastStall  = 500 * time.Millisecond
	stallFactor = 20
	stallTurns  = 3
)

// A Pace measures how evenly rounds, or operations of one phase, end. It is not safe for concurrent use.
type Pace struct {
	Phase   string       // "" of rounds
	Counted func() int64 // returns how many have ended so far

	first   int64 // the count when the window opened
	last    int64
	changed time.Time // when the count was first seen
	longest time.Duration
}

// Begin opens the window.
func (p *Pace) Begin(now time.Time) {
	p.first = p.Counted()
	p.last, p.changed, p.longest = p.first, now, 0
}

// Look looks at the count; closing says that the window closes. Times without an end are known to the
// interval between two calls.
func (p *Pace) Look(now time.Time, closing bool) {
	n := p.Counted()
	if n != p.last || closing {
		p.longest = max(p.longest, now.Sub(p.changed))
		p.last, p.changed = n, now
	}
}

// Stall returns the longest time in which nothing ended, and the mean of the others, if it is a stall.
// pause is how long clients pause in a turn, which all of them may do at the same time, and burst how many
// ends may come together.
func (p *Pace) Stall(window, pause time.Duration, burst int) (longest, typical time.Duration, is bool) {
	n := p.last - p.first
	if n <= 0 {
		return 0, 0, false
	}
	typical = max(window-p.longest, 0) / time.Duration(n)
	least := max(leastStall, stallTurns*pause, max(stallFactor, stallTurns*time.Duration(burst))*typical)
	return p.longest, typical, p.longest >= least
}
