// Package fit fits curves to measurements at several levels: how throughput scales
// ([Scale]) and where it peaks ([USL.Peak]), how a cost grows ([Grow]), and from which
// level on one form is worse than another ([Cross]). It also says how sure of a median
// ([Median]) or of the next value ([Next]) one can be.
//
// It knows numbers only. Throughput and costs scatter by a share of themselves, so
// curves are fitted to relative residuals. The replicates of a curve are its levels,
// not their repetitions.
package fit
