package clock

import "time"

// A Moment is the time since the start of one agent's clock. Only the Estimator of the same agent can
// convert it.
type Moment struct{ since time.Duration }

// MomentAt returns the moment that is the given time after the start of the agent's clock.
func MomentAt(since time.Duration) Moment { return Moment{since} }

// Since returns the time since the start of the agent's clock.
func (m Moment) Since() time.Duration { return m.since }

// Sub returns the time from an earlier moment of the same agent to m, on the agent's clock.
func (m Moment) Sub(earlier Moment) time.Duration { return m.since - earlier.since }

// String returns the time since the start of the agent's clock.
func (m Moment) String() string { return m.since.String() }

// A CoordinatorMoment is the time since the start of the coordinator's clock.
type CoordinatorMoment struct{ since time.Duration }

// Since returns the time since the start of the coordinator's clock.
func (m CoordinatorMoment) Since() time.Duration { return m.since }

// Sub returns the time from an earlier moment to m.
func (m CoordinatorMoment) Sub(earlier CoordinatorMoment) time.Duration {
	return m.since - earlier.since
}

// String returns the time since the start of the coordinator's clock.
func (m CoordinatorMoment) String() string { return m.since.String() }

// An Interval of the coordinator's clock contains a moment that is not known exactly.
type Interval struct{ Earliest, Latest CoordinatorMoment }

// Contains reports whether the interval contains the moment.
func (i Interval) Contains(m CoordinatorMoment) bool {
	return i.Earliest.since <= m.since && m.since <= i.Latest.since
}

// Middle returns the middle of the interval, which is the estimate of the moment.
func (i Interval) Middle() CoordinatorMoment {
	return CoordinatorMoment{i.Earliest.since + i.width()/2}
}

// Error returns the largest distance of the moment from the middle.
func (i Interval) Error() time.Duration { return (i.width() + 1) / 2 }

func (i Interval) width() time.Duration { return i.Latest.since - i.Earliest.since }

// A Clock measures the time since it was started. It uses the monotonic clock of the machine, so
// changes of the wall clock have no effect.
type Clock struct{ start time.Time }

// StartClock returns a clock that starts now.
func StartClock() Clock { return Clock{time.Now()} }

// Now returns the present moment, if the clock is an agent's.
func (c Clock) Now() Moment { return Moment{time.Since(c.start)} }

// CoordinatorNow returns the present moment, if the clock is the coordinator's.
func (c Clock) CoordinatorNow() CoordinatorMoment { return CoordinatorMoment{time.Since(c.start)} }
