// Package faults injects faults into a run: it defines which fault happens when and to which
// target, and how the fault is undone.
//
// A [Schedule] has one [Fault] per line in a readable form. It is printed in the same form, so that
// it can be repeated:
//
//	at=10s kill leader, restart after=5s
//	at=20s freeze holder for=15s
//
// [Schedule.Check] reports, before a run, a fault that is not possible in it. [Schedule.Do]
// performs the faults on the [Subjects] at the schedule's times, and at the end restores what is
// still broken. [Nemesis] generates random schedules.
//
// A [Link] simulates the network of one session's connections, or of those between two servers. It
// can be slow, throttled or silent, and it can be cut.
package faults
