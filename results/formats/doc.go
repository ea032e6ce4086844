// Package formats is the formats in which a result can be written, each for
// somebody else: people at a terminal, spreadsheets, CI systems, tools that know
// benchmarks or histograms.
//
// [All] is the table of them. A [Format] says whom it is for and which kinds of
// results it can show; all of them work from a saved result, so that nothing is
// run again for another one.
package formats
