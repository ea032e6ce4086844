// Package sweeps is the plan of a sweep: the [Levels] of its axes, the [Order] in
// which they are measured, the [Objective] that a level must meet, and the search
// for the [Highest] level that does.
//
// It runs nothing. What it decides follows from the seed and from what was
// measured alone, so that a sweep which was interrupted goes on as if it had not
// been.
package sweeps
