// Package results defines result files: the measurements of a command and their output formats.
//
// A [File] is the result of one command, with a [Run] for each form, backend, number of clients and
// repetition. [FromRecord] converts the measurements of package metrics to a Run. WriteJSON and [Read]
// write and read JSON; WriteTable writes text for people. Every view is made from the File alone, so a
// saved file is enough for any view, without a new run. A [CountReport] has exact counts, a [Sweep] is
// a File of runs at several levels with an analysis of them, and a [Comparison] compares two sides.
package results
