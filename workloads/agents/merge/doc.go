// Package merge makes one measurement of what several agents measured in one run.
//
// Merging is exact: the result is what one process would have measured that saw everything. Counts and
// histograms are added, the latter bucket by bucket, since percentiles of parts say nothing of the
// percentiles of the whole.
package merge
