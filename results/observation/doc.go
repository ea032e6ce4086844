// Package observation judges the thresholds of an observation.
package observation
