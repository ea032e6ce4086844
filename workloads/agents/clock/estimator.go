package clock

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// DefaultMaxDrift is enough for two machines whose clocks are wrong by 100 ppm each, which is more
// than the crystals of servers are. It is not enough while a daemon slews a clock faster.
const DefaultMaxDrift PPM = 200

// limitOfDrift is the largest maximum drift that can be stated.
const limitOfDrift PPM = 100_000

// ErrNoExchange means that no exchange has completed yet.
var ErrNoExchange = errors.New("no exchange with the coordinator has completed")

// An Estimator converts the moments of one agent to the coordinator's clock. Its methods may be called
// from any goroutine. After an exchange that contradicts the others, all methods return that error.
type Estimator struct {
	mu     sync.Mutex
	drift  PPM
	upper  limits
	lower  limits
	recent recent
	broken error // the first contradiction
}

// NewEstimator returns an estimator for an agent whose clock runs faster or slower than the
// coordinator's by at most maxDrift, per time on the agent's clock.
func NewEstimator(maxDrift PPM) (*Estimator, error) {
	if !(maxDrift >= 0 && maxDrift <= limitOfDrift) {
		return nil, fmt.Errorf("invalid maximum drift %v ppm: must be 0 to %v", float64(maxDrift), float64(limitOfDrift))
	}
	return &Estimator{drift: maxDrift, upper: limits{side: 1, drift: maxDrift}, lower: limits{side: -1, drift: maxDrift}}, nil
}

// Add adds an exchange. The order does not matter. The error is ErrImpossible, ErrDrift or ErrStep if
// the exchange cannot be true, or contradicts an earlier one.
func (e *Estimator) Add(x Exchange) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.broken != nil {
		return e.broken
	}
	if e.broken = x.check(e.drift); e.broken != nil {
		return e.broken
	}
	if e.broken = e.contradicted(x); e.broken != nil {
		return e.broken
	}
	e.upper.add(x.upper())
	e.lower.add(x.lower())
	e.recent.add(x)
	return nil
}

// Offset is the coordinator's clock minus the agent's clock, at one moment. The true offset differs
// from Value by at most Error.
type Offset struct{ Value, Error time.Duration }

// Offset estimates the offset at the moment.
func (e *Estimator) Offset(m Moment) (Offset, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	least, most, err := e.bounds(m)
	return Offset{least + (most-least)/2, (most - least + 1) / 2}, err
}

// At converts a moment to the coordinator's clock.
func (e *Estimator) At(m Moment) (Interval, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	least, most, err := e.bounds(m)
	if err != nil {
		return Interval{}, err
	}
	return Interval{CoordinatorMoment{m.since + least}, CoordinatorMoment{m.since + most}}, nil
}

// bounds returns the least and the largest offset at the moment.
func (e *Estimator) bounds(m Moment) (least, most time.Duration, err error) {
	switch {
	case e.broken != nil:
		return 0, 0, e.broken
	case len(e.upper.all) == 0:
		return 0, 0, ErrNoExchange
	case m.since < 0 || m.since > longest:
		return 0, 0, fmt.Errorf("moment %v after the start of the agent's clock: want 0 to %v", m.since, longest)
	}
	return e.lower.offset(m), e.upper.offset(m), nil
}

// change returns the least and the largest change of the offset from one moment to another.
func (e *Estimator) change(from, to Moment) (least, most time.Duration, err error) {
	fromLeast, fromMost, err := e.bounds(from)
	if err != nil {
		return 0, 0, err
	}
	toLeast, toMost, err := e.bounds(to)
	if err != nil {
		return 0, 0, err
	}
	drifted := e.drift.times(to.Sub(from)) + resolution
	return max(-drifted, toLeast-fromMost), min(drifted, toMost-fromLeast), nil
}

// A Drift is how much faster the coordinator's clock ran than the agent's, on average from one moment
// to another. The true average differs from Mean by at most Error.
type Drift struct {
	Mean, Error PPM
	From, To    Moment
}

// Drift estimates the average drift between the first and the last exchange.
func (e *Estimator) Drift() (Drift, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.broken != nil || len(e.upper.all) == 0 {
		_, _, err := e.bounds(Moment{})
		return Drift{}, err
	}
	from, to := e.recent.first, e.recent.last
	least, most, err := e.change(from, to)
	if err != nil || to == from {
		return Drift{0, e.drift, from, to}, err
	}
	within := func(d PPM) PPM { return max(-e.drift, min(d, e.drift)) } // least and most are rounded up
	low, high := within(perTime(least, to.Sub(from))), within(perTime(most, to.Sub(from)))
	return Drift{(low + high) / 2, (high - low) / 2, from, to}, nil
}

// Collect adds an exchange at once and then one per interval until the context ends or an exchange
// contradicts the others, which is the error. It returns how many exchanges did not complete.
func (e *Estimator) Collect(ctx context.Context, from Exchanger, interval time.Duration) (lost int, err error) {
	ticks := time.NewTicker(interval)
	defer ticks.Stop()
	for {
		x, err := from.Exchange(ctx)
		switch {
		case err == nil:
			if err := e.Add(x); err != nil {
				return lost, err
			}
		case ctx.Err() == nil:
			lost++
		}
		select {
		case <-ctx.Done():
			return lost, nil
		case <-ticks.C:
		}
	}
}
