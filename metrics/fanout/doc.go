// Package fanout counts the packets of a run's sessions and finds the write that caused each
// notification. The notifications of one write are its fan-out.
//
// A [Meter] sees every packet of every session of a run. It gives each client a [Session],
// which is that client's drivers.Probe. The ledger inside the Meter matches notifications with
// writes.
package fanout
