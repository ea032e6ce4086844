// Package history is what clients asked and were answered, held against what a
// service that does one thing after the other could have answered.
//
// A [Lock] has the holds of one lock, a [Register] the reads and writes of one
// node. Check tells whether there is an order in which everything happened at one
// moment between its call and its return, as linearizability has it, and if there
// is none, shows as little of the history as shows that. What was asked and not
// answered may have been done at any time afterwards, or never.
package history
