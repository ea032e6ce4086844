// Package cost is what each form of each recipe costs, by reasoning: the oracle
// that measured counts are held against.
//
// It assumes one session per client, no faults, nobody who gives up, and parents
// that were made beforehand; opening and closing sessions is not counted.
//
// A [Model] says two things. Settled is the exact cost of N clients that arrive
// one at a time and then let go one at a time, in the order in which they were
// served, where everything comes to rest between any two steps; where several
// clients race after one step it is the least and the most. The identities
// hold under any schedule, so they can be checked in every run.
//
// The words of the formulas: N is the number of clients, or of rounds where a
// formula is an identity; K the exists calls with a watch, z those of them that
// found no node; q the polls of each waiter per turn; W the writers and R the
// readers among the N clients of a shared lock; M the items in a queue, or the
// names, each of which a client looks up L times before the first update and
// after each; U the updates of what all follow.
package cost
