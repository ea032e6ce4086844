// Package compare compares the figures of a base and a candidate, and decides whether each differs. It
// reads the values with package figure, tests them with package stats, and returns changes in the form of
// package results.
//
// [Rules.Changes] compares runs in pairs or saved runs, [Default] returns the figures that are compared
// unless the user names others, and [Rows] matches the runs of saved files.
package compare
