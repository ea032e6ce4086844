// Package settled drives a workload one step at a time and waits until the whole system is at rest
// between two steps, so that the counts are exact: they depend on the form, the number of clients and
// the settings, and not on timing. A [Result] also holds the trace of the run and, where the server
// keeps one, the server's own count.
//
// A workload that has a settled run is a [Script]. It moves its clients with a [Stepper].
package settled
