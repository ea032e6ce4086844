// Package clock estimates what the clock of an agent shows against the clock of the coordinator, and
// how far the estimate can be wrong.
//
// A run from several machines has one coordinator and several agents. A latency that begins on one
// machine and ends on another needs both moments on one clock, which is the coordinator's. An agent
// asks the coordinator for its time again and again. Each [Exchange] has four timestamps: the agent
// sent the request (t1), the coordinator received it (t2) and answered (t3), the agent received the
// answer (t4). No packet arrives before it is sent, so the coordinator's clock minus the agent's,
// the offset, was at most t2-t1 when the agent sent, and at least t3-t4 when the agent received.
// Nothing else is assumed about delays: they may be asymmetric, and may vary.
//
// An [Estimator] keeps the exchanges that limit the offset the most, which are those of minimum round
// trip. For another moment it widens each limit by the stated maximum drift times the distance in
// time, and intersects them all. The result is an [Interval] of the coordinator's clock that contains
// the moment, if the drift is at most the stated one. Half its width, the error bound ε, is at most
// half of an exchange's round trip plus the maximum drift times the age of the exchange, for each
// exchange that is kept. A further exchange never widens it. Limits that exclude each other are an
// error, either [ErrDrift] or [ErrStep]; the estimator then answers no more.
//
// Clocks are monotonic: a [Moment] counts from the start of an agent's [Clock], so neither an
// adjusted wall clock nor a time zone changes it. Moments of an agent, and those of the coordinator,
// a [CoordinatorMoment], are two types without conversion between them. The kernel slews the monotonic
// clock while it corrects the wall clock, by up to 500 ppm for ntpd; the stated maximum drift has to
// include this. While a machine is suspended, its monotonic clock stops, which is a step.
//
// A [Client] and [Serve] exchange timestamps in UDP packets. A packet without the run's key is ignored.
package clock
