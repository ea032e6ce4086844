// Package metrics measures a run: latencies, wire costs, and which sessions each write
// notified.
//
// A [Meter] sees every packet of every session of a run. It gives each client a [Session],
// which is that client's drivers.Probe, and finds the write that caused each notification; the
// notifications of one write are its fan-out. A [Latency] records the service and response
// times of one phase of a workload. A [Record] holds all measurements of one run in memory;
// package results writes it to disk.
package metrics
