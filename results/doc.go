// Package results defines result files: the measurements of a command, and how they are written and
// read.
//
// A [File] is the result of one command, with a [Run] for each form, backend, number of clients and
// repetition. [FromRecord] converts the measurements of package metrics to a Run. A [CountReport] has exact
// counts, a [Sweep] is a File of runs at several levels with an analysis of them, a [Comparison] compares a
// base with a candidate, and a [Calibration] has a machine's noise floor. Each of them is a [Result].
// [WriteJSON] writes a result, [ReadAny] reads one.
//
// Every view is made from the result alone, so a saved file is enough for any view, without a new run.
// Package view makes text of results, packages charts and report make pictures and pages.
package results
