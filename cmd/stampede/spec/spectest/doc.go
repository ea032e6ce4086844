// Package spectest has flag values for tests of specifications.
package spectest
