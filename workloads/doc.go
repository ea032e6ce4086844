// Package workloads is the engine of a run: it opens the clients' sessions, drives a [Workload] in a
// closed or an open loop through its warm-up and its measured window, injects faults, and returns a
// record of what it measured. A [Workload] is one recipe in one form, ready for one run, or other
// load. [Run] drives it at full speed. Package settled drives it one step at a time instead.
//
// The workloads are in packages recipe and load, the safety checkers in check, the expected counts in
// costmodel, the arrivals of an open loop in openloop, the test suites that every form passes in
// recipetest, and the table of all forms in catalog.
package workloads
