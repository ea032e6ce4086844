// Package figures defines the metrics of a run: numbers with names by which users select them, e.g.
// "acquire.response.p99" or "notifications_per_round".
//
// [Parse] finds a [Figure] by its name, or suggests the closest name; [All] returns the figures that a
// run with the given phases can have. A Figure has a unit and a better direction, computes its value
// from a run, and says whether it depends on the speed of the machine. [ParseBound] parses a condition
// on a figure: "acquire.response.p99<50ms".
package figures
