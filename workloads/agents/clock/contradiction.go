package clock

import (
	"errors"
	"fmt"
	"math"
	"time"
)

var (
	// ErrImpossible means that an exchange alone cannot be true, whatever others say.
	ErrImpossible = errors.New("impossible exchange")
	// ErrDrift means that the clocks drift apart faster than the stated maximum.
	ErrDrift = errors.New("drift larger than stated")
	// ErrStep means that no steady drift explains the exchanges: a clock was set, or stopped for a while.
	ErrStep = errors.New("a clock stepped")
)

// steepest is the largest drift that counts as a drift. Crystals are wrong by up to 100 ppm, and
// daemons slew clocks by up to 500 ppm. What looks faster is a step.
const steepest PPM = 1000

// recent has the last exchanges, which tell a drift from a step.
type recent struct {
	all         [64]Exchange // the newest at (n-1)%64
	n           int
	first, last Moment // of all exchanges, including those that have been replaced
}

func (r *recent) add(x Exchange) {
	if r.n == 0 || x.Sent.since < r.first.since {
		r.first = x.Sent
	}
	r.last.since = max(r.last.since, x.Returned.since)
	r.all[r.n%len(r.all)] = x
	r.n++
}

// contradicted returns an error if the exchange contradicts those before. Two limits from opposite sides
// contradict each other if the offset would have to change faster than the stated drift.
func (e *Estimator) contradicted(x Exchange) error {
	if e.recent.n == 0 {
		return nil
	}
	above, below := x.upper(), x.lower()
	if most := e.upper.offset(below.at); below.offset > most {
		return e.explain(x, e.upper.at(below.at), below, below.offset-most)
	}
	if least := e.lower.offset(above.at); above.offset < least {
		return e.explain(x, above, e.lower.at(above.at), least-above.offset)
	}
	return nil
}

// explain returns the error for two limits that contradict each other by the given time, of which one is
// of the exchange.
func (e *Estimator) explain(x Exchange, upper, lower limit, by time.Duration) error {
	uppers, lowers := []limit{upper, x.upper()}, []limit{lower, x.lower()}
	for _, r := range e.recent.all[:min(e.recent.n, len(e.recent.all))] {
		uppers, lowers = append(uppers, r.upper()), append(lowers, r.lower())
	}
	least, most := steady(uppers, lowers)
	early, late := min(upper.at.since, lower.at.since), max(upper.at.since, lower.at.since)
	between := fmt.Sprintf("the offset changed between %v and %v on the agent's clock by %v more than a drift of %v ppm allows",
		early, late, by, float64(e.drift))
	if least > most || least > steepest || most < -steepest {
		return fmt.Errorf("%w: %s, and no steady drift below %v ppm explains it", ErrStep, between, float64(steepest))
	}
	return fmt.Errorf("%w: %s; a steady drift of %.1f to %.1f ppm would explain it", ErrDrift, between, float64(least), float64(most))
}

// steady returns the least and the largest drift of a clock that drifts steadily within all limits. The
// least is above the largest if there is none.
//
// At a given drift such a clock exists if no lower limit, moved by the drift to the moment of an upper
// one, is above it.
func steady(uppers, lowers []limit) (least, most PPM) {
	least, most = PPM(math.Inf(-1)), PPM(math.Inf(1))
	for _, u := range uppers {
		for _, l := range lowers {
			rise, apart := l.offset-u.offset, l.at.Sub(u.at)
			switch {
			case apart > 0:
				least = max(least, perTime(rise, apart))
			case apart < 0:
				most = min(most, perTime(rise, apart))
			case rise > 0:
				return 1, -1
			}
		}
	}
	return least, most
}
