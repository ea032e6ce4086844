// Package check contains the safety checkers of the recipes. A workload reports to its checker what
// its clients do and see; the checker returns the violations that it finds. It reports events in the
// order that makes every violation real: a hold, for instance, begins after Acquire has returned and
// ends before Release is called.
//
// Judges take what clients do as steps with an earliest and a latest time: as they happen, where one
// process has all clients, or later in an order that the error of the clocks permits. They remember
// what is open, and not the run.
//
// There is one file per checker:
//
//   - lock: at most one client holds a lock or leads, and fencing tokens increase
//   - barrier: no client passes before the others have arrived
//   - delivery: exactly one consumer takes each item of a queue, in order
//   - votes: all sites of a transaction learn one decision, which their votes allow
//   - membership: members of a group see the current members
//   - memberstate: the states of members have each acknowledged update once
//   - visibility: clients see the updates of a value in order, and the last one in the end
//   - freshness: no session reads an older version of a key than it has seen
//   - operations: the recorded calls and answers are a possible history (package history judges it)
package check
