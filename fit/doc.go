// Package fit fits curves to measurements at several levels: how throughput scales ([Scale])
// and where it peaks ([USL.Peak]), how a cost grows ([Grow]), and from which level on one form
// is worse than another ([Cross]). It also estimates the uncertainty of a median ([Median]) and
// of the next value ([Next]).
//
// The package knows numbers only. Throughput and costs scatter in proportion to their size, so
// curves are fitted to relative residuals. The replicates of a curve are its levels, not their
// repetitions.
package fit
