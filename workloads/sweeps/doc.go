// Package sweeps plans a sweep: the [Level] values of its axes, the [Order] in which they are
// measured, the [Objective] that a level must meet, and the [Search] for the highest level that
// meets it.
//
// It runs nothing. Its decisions follow from the seed and the measurements alone, so a sweep that
// was interrupted and resumed gives the same result as one that was not.
package sweeps
