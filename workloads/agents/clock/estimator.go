package clock

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
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

// Convert converts a moment to the coordinator's clock.
func (e *Estimator) Convert(m Moment) (Interval, error) {
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

// PPM is a relative difference of the rates of two clocks, in parts per million.
type PPM float64

// times returns by how much clocks drift apart in d at most, rounded up.
func (p PPM) times(d time.Duration) time.Duration {
	return time.Duration(math.Ceil(float64(p) * 1e-6 * math.Abs(float64(d))))
}

// perTime returns the drift that changes the offset by change in d.
func perTime(change, d time.Duration) PPM { return PPM(float64(change) / float64(d) * 1e6) }

// A limit says that the offset at a moment was at most, or at least, so large.
type limit struct {
	at        Moment
	offset    time.Duration // the coordinator's clock minus the agent's
	roundTrip time.Duration // of the exchange it is from
}

// limits are the limits from one side. None of them implies another, so at any moment one of the two
// nearest is the strictest: a limit that is farther away, and stricter there, would imply the nearer one.
type limits struct {
	side  time.Duration // 1: the offset is at most so large; -1: at least
	drift PPM
	all   []limit // in order of their moments
}

// maxLimits is the number of limits that are kept of each side, 3 MB of them. At ten exchanges per
// second it is reached after four hours. From then on the moments that are kept are farther apart.
const maxLimits = 1 << 17

// strictest returns the strictest limit on the offset at the moment. There must be a limit.
func (l *limits) strictest(m Moment) limit {
	i := l.search(m)
	near := l.all[max(i-1, 0):min(i+1, len(l.all))]
	return slices.MinFunc(near, func(a, b limit) int { return cmp.Compare(l.slack(a, m), l.slack(b, m)) })
}

// offset returns the strictest limit on the offset at the moment. There must be a limit.
func (l *limits) offset(m Moment) time.Duration { return l.side * l.slack(l.strictest(m), m) }

// slack returns what the limit says about another moment: lower is stricter, on both sides.
func (l *limits) slack(from limit, m Moment) time.Duration {
	return l.side*from.offset + l.drift.times(m.Sub(from.at))
}

// search returns how many limits are of moments before m.
func (l *limits) search(m Moment) int {
	i, _ := slices.BinarySearchFunc(l.all, m, func(a limit, m Moment) int { return cmp.Compare(a.at.since, m.since) })
	return i
}

// add adds a limit, unless others imply it, and removes those that it implies.
func (l *limits) add(n limit) {
	i := l.search(n.at)
	if len(l.all) > 0 && l.offset(n.at)*l.side <= n.offset*l.side {
		return
	}
	implied := func(other limit) bool { return l.slack(n, other.at) <= l.side*other.offset }
	from, to := i, i
	for from > 0 && implied(l.all[from-1]) {
		from--
	}
	for to < len(l.all) && implied(l.all[to]) {
		to++
	}
	l.all = slices.Replace(l.all, from, to, n)
	if len(l.all) > maxLimits {
		l.thin()
	}
}

// thin keeps one of every two neighbours, that of the smaller round trip.
func (l *limits) thin() {
	kept := l.all[:0]
	for pair := range slices.Chunk(l.all, 2) {
		kept = append(kept, slices.MinFunc(pair, func(a, b limit) int { return cmp.Compare(a.roundTrip, b.roundTrip) }))
	}
	l.all = kept
}

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
		return e.explain(x, e.upper.strictest(below.at), below, below.offset-most)
	}
	if least := e.lower.offset(above.at); above.offset < least {
		return e.explain(x, above, e.lower.strictest(above.at), least-above.offset)
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
