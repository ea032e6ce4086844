// Package pace says when work is due in an open loop, where it comes at a rate
// of its own however fast the service is.
//
// A [Rate] is how many arrivals a second there are on average, at each moment of
// a run; [Constant] and [Poisson] are ways in which they come. A [Pacer] hands
// each arrival out once, in order, to whoever is free: one that nobody is free
// for waits and is late, and its response time still counts from when it was due.
// Nothing is kept of arrivals that wait, so a run may be as long as one likes.
package pace
