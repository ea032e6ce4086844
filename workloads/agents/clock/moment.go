package clock

import (
	"context"
	"fmt"
	"time"
)

// A Moment is the time since the start of one agent's clock. Only the Estimator of the same agent can
// convert it.
type Moment struct{ since time.Duration }

// MomentAt returns the moment that is the given time after the start of the agent's clock.
func MomentAt(since time.Duration) Moment { return Moment{since} }

// SinceStart returns the time since the start of the agent's clock.
func (m Moment) SinceStart() time.Duration { return m.since }

// Sub returns the time from an earlier moment of the same agent to m, on the agent's clock.
func (m Moment) Sub(earlier Moment) time.Duration { return m.since - earlier.since }

// String returns the time since the start of the agent's clock.
func (m Moment) String() string { return m.since.String() }

// A CoordinatorMoment is the time since the start of the coordinator's clock.
type CoordinatorMoment struct{ since time.Duration }

// SinceStart returns the time since the start of the coordinator's clock.
func (m CoordinatorMoment) SinceStart() time.Duration { return m.since }

// Sub returns the time from an earlier moment to m.
func (m CoordinatorMoment) Sub(earlier CoordinatorMoment) time.Duration {
	return m.since - earlier.since
}

// String returns the time since the start of the coordinator's clock.
func (m CoordinatorMoment) String() string { return m.since.String() }

// An Interval of the coordinator's clock contains a moment that is not known exactly.
type Interval struct{ Earliest, Latest CoordinatorMoment }

// Middle returns the middle of the interval, which is the estimate of the moment.
func (i Interval) Middle() CoordinatorMoment {
	return CoordinatorMoment{i.Earliest.since + i.Latest.Sub(i.Earliest)/2}
}

// A Clock measures the time since it was started. It uses the monotonic clock of the machine, so
// changes of the wall clock have no effect.
type Clock struct{ start time.Time }

// StartClock returns a clock that starts now.
func StartClock() Clock { return Clock{time.Now()} }

// Reading returns what the clock showed when time.Now returned t, if the clock is an agent's. The monotonic readings
// of both decide.
func (c Clock) Reading(t time.Time) Moment { return Moment{t.Sub(c.start)} }

// CoordinatorNow returns the present moment, if the clock is the coordinator's.
func (c Clock) CoordinatorNow() CoordinatorMoment { return CoordinatorMoment{time.Since(c.start)} }

// TimeAfter returns what time.Now returns when the clock shows the time since its start.
func (c Clock) TimeAfter(since time.Duration) time.Time { return c.start.Add(since) }

// An Exchanger asks the coordinator for its time.
type Exchanger interface {
	// Exchange does one exchange. An error means that it did not complete, for example because a
	// packet was lost.
	Exchange(ctx context.Context) (Exchange, error)
}

// An Exchange has the timestamps of one request of an agent to the coordinator, t1 to t4.
type Exchange struct {
	Sent     Moment            // t1: the agent sent the request
	Received CoordinatorMoment // t2: the coordinator received it
	Answered CoordinatorMoment // t3: the coordinator sent the answer
	Returned Moment            // t4: the agent received the answer
}

// RoundTrip returns how long the packets were under way, in both directions together.
func (x Exchange) RoundTrip() time.Duration {
	return x.Returned.Sub(x.Sent) - x.Answered.Sub(x.Received)
}

// longest is the longest time that a clock may show. Differences and sums of such times do not
// overflow.
const longest = 10 * 365 * 24 * time.Hour

// resolution is how much a reading may be lower than the time it stands for: readings are rounded
// down to nanoseconds.
const resolution = time.Nanosecond

// upper returns the limit from above on the offset. The request was received after it was sent.
func (x Exchange) upper() limit {
	return limit{at: x.Sent, offset: x.Received.since - x.Sent.since + resolution, roundTrip: x.RoundTrip()}
}

// lower returns the limit from below on the offset. The answer was sent before it returned.
func (x Exchange) lower() limit {
	return limit{at: x.Returned, offset: x.Answered.since - x.Returned.since - resolution, roundTrip: x.RoundTrip()}
}

// check returns an error if no clocks with at most this drift can give these timestamps.
func (x Exchange) check(most PPM) error {
	for _, t := range []time.Duration{x.Sent.since, x.Received.since, x.Answered.since, x.Returned.since} {
		if t < 0 || t > longest {
			return fmt.Errorf("%w: a timestamp is %v after the start of its clock, want 0 to %v", ErrImpossible, t, longest)
		}
	}
	waited, held := x.Returned.Sub(x.Sent), x.Answered.Sub(x.Received)
	switch {
	case waited < 0:
		return fmt.Errorf("%w: the agent's clock ran backwards by %v", ErrImpossible, -waited)
	case held < 0:
		return fmt.Errorf("%w: the coordinator's clock ran backwards by %v", ErrImpossible, -held)
	case x.lower().offset-x.upper().offset > most.times(waited):
		return fmt.Errorf("%w: the coordinator held the request for %v, but the agent waited only %v for the answer; "+
			"a clock stepped, or the timestamps of agent and coordinator are exchanged", ErrImpossible, held, waited)
	}
	return nil
}
