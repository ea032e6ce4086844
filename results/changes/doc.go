// Package changes is by how much the figures of two sides differ, and what is
// decided of each: it has the runs' figures from package figures, asks package
// effect how sure a difference is, and writes it down as package results has it.
//
// [Rules.Changes] does it for runs in pairs and for runs that were saved,
// [Default] are the figures that are asked for unless somebody names others, and
// [Rows] pairs the runs of saved files that are alike.
package changes
