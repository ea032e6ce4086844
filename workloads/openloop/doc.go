// Package openloop decides when operations are due in an open loop, where they arrive at a
// given rate, however fast the service is.
//
// A [Rate] is the mean number of arrivals per second at each moment of a run. [Constant]
// and [Poisson] are arrival processes. A [Pacer] hands out each arrival once, in order, to
// the next free client. An arrival for which no client is free waits and is late; its
// response time still counts from when it was due. Waiting arrivals take no memory, so a
// run can be of any length.
package openloop
