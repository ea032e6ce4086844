// Package report is a result as one HTML file: the verdict and the finding, the
// thresholds, charts, tables, where it was measured, and the result itself.
//
// [Write] makes it of any kind of result. The file needs no network and no script,
// and is legible on paper, on a phone, in light and in dark.
package report
