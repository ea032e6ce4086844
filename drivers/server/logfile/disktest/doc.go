// Package disktest has disks for tests of logs: one that simulates a loss of power and failed syncs, and
// one that does not sync.
package disktest
