// Package metrics measures: how long things took, what they cost on the wire,
// and whom each write woke.
//
// A [Meter] sees every packet of every session of a run (it hands out one
// [Session] per client, which is the drivers.Probe of that client) and settles
// which write each notification belongs to: the write's fan-out. A [Latency]
// records service and response time of one phase of a workload. A [Record] is
// all that was measured in one run, in memory; package results writes it down.
package metrics
