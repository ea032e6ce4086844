// Package resulttest is results that were made up, for tests of what shows results:
// a run of the lock in both forms, a sweep of it, a sweep of a mix, counts and a
// comparison. Their numbers are such as the forms have, and always the same.
package resulttest
