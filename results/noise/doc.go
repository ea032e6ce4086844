// Package noise stores calibrations: the newest for each machine and setting. From a calibration it
// computes the noise floor, the difference that a comparison must exceed to be more than noise.
package noise
