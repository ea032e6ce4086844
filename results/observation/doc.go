// Package observation judges the thresholds of an observation, and writes it for people and for CI
// systems.
package observation
