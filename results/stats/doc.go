// Package stats compares two samples and decides whether they differ, and fits curves to
// measurements at several levels.
//
// Of two samples: [Pairs] for runs in pairs, [Contrast] for runs that may depend on those before them,
// [Judge] for the verdicts on figures that are judged together, [Simulate] for what such a comparison can
// detect, [Floor] for the noise floor of a machine. Differences are differences of logarithms, so that
// twice as much is as far from no change as half as much.
//
// Of levels: how throughput scales ([Scale]) and where it peaks ([USL.Peak]), how a cost grows
// ([Grow]), and from which level on one form is worse than another ([Cross]). Throughput and
// costs scatter in proportion to their size, so curves are fitted to relative residuals. The
// replicates of a curve are its levels, not their repetitions.
//
// Of one sample: [Median] with its interval, and [Next], the prediction of the next value.
//
// The package knows numbers only. A run is one observation, however many requests it had.
package stats
