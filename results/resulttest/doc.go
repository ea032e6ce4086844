// Package resulttest has artificial results for tests of output formats: a run of the lock in both forms, a
// sweep of it, sweeps of a mix, counts, a comparison, an observation, a calibration and a history. Their
// numbers are typical, and always the same.
package resulttest
