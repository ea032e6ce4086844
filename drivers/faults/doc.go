// Package faults is what is broken on purpose while a run goes on: which fault,
// when, to whom, and what is done about it afterwards.
//
// A [Schedule] is written as a person would say it, one [Fault] a line, and is
// printed the same way, so that it can be done again:
//
//	at=10s kill leader, restart after=5s
//	at=20s freeze holder for=15s
//
// [Schedule.Check] tells before a run what could not be done in it. Do breaks
// what is among the [Subjects] at the times the schedule says, and mends
// at the end what it left broken. [Nemesis] makes schedules up.
//
// A [Line] is what the connections of one session go through, or those between two
// servers. It can be slow, narrow or silent, and it can be cut.
package faults
