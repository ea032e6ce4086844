// Package metrics holds the measurements of a run: latencies, wire costs, fan-out, fairness,
// the use of processors, and the recovery from faults.
//
// A [Latency] records the service and response times of one phase of a workload. A [FaultLog]
// records faults and how they affected the clients. A [Record] holds all measurements of one
// run in memory; package results writes it to disk. Package fanout counts at the wire.
package metrics
