// Package formats writes results in several formats: for people at a terminal, spreadsheets, CI systems,
// and tools that read benchmarks or histograms.
//
// [All] lists the formats. A [Format] says what it is for and which kinds of results it supports. All
// formats work from a saved result, so another format needs no new run.
package formats
