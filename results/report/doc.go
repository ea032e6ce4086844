// Package report writes a result as one HTML file: the verdict and the finding, the thresholds, charts,
// tables, the machine and the backend, and the result itself.
//
// [Write] accepts any result except a calibration. The file needs no network and no script, and is
// readable in print, on a phone, and in the light and the dark scheme.
package report
