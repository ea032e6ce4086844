// Package fanout counts the packets of a run's sessions and finds the write that caused each
// notification. The fan-out of a write is the number of sessions that it notifies.
//
// A [Meter] sees every packet of every session of a run. It gives each client a [Session],
// which is that client's drivers.Probe. The ledger inside the Meter matches notifications with
// writes.
package fanout
