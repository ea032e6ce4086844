// Package resulttest has artificial results for tests of output formats: a run of the lock in both forms,
// a sweep of it, sweeps of a mix, counts and a comparison. Their numbers are typical of the forms, and
// always the same.
package resulttest
