// Package history finds when a figure changed, in the results of many runs over time.
//
// A [Series] is one figure of one kind of run on one machine. [Analyze] finds its changes: of a figure
// that has noise, steps and drifts ([Detect]); of an exact count, each result that differs from the one
// before it.
package history
