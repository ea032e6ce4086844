// Package results is the result file: what a run measured, written down.
//
// A [File] is one stampede run with all its [Run]s, one per form and number of
// clients. [FromRecord] makes a Run of what package metrics measured;
// WriteJSON and [Read] are its JSON form, WriteTable is how a person reads it. Every view is
// made from a File, so whoever has a saved one needs no other run for another
// view. A [CountReport] is the same for exact counts, and a [Sweep] is a File with what
// follows from runs at many levels.
package results
