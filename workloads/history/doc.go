// Package history checks whether a linearizable service could have given the answers that
// clients recorded.
//
// A [Lock] has the holds of one lock, a [Register] the reads and writes of one node. Check
// looks for an order in which each operation takes effect at one moment between its call
// and its return, as linearizability requires. If there is none, Check returns as small a
// part of the history as it can that shows this. An operation without an answer may have
// taken effect at any time after its call, or never.
package history
