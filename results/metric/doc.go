// Package metric defines the metrics of a run: numbers with names by which users select them, e.g.
// "acquire.response.p99" or "notifications_per_round".
//
// [Parse] finds a [Metric] by its name, or suggests the closest name; [All] returns the metrics that a
// run with the given phases can have. A Metric has a unit and a better direction, computes its value
// from a run, and says whether it depends on the speed of the machine. [ParseBound] parses a condition
// on a metric: "acquire.response.p99<50ms".
package metric
