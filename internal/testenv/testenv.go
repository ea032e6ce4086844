// Package testenv tells a test about the test run that it is part of: whether long
// tests run, and which servers the packages of the run share.
//
// A program such as internal/testrun starts the shared servers and names them in the
// environment. Where it names none, as when one package is tested by go test alone,
// each package starts its own.
package testenv

import (
	"os"
	"testing"
)

// The environment variables that name the shared servers, each as host:port.
const (
	ZooKeeper = "TEST_ZOOKEEPER" // an Apache ZooKeeper with a tick of 500 ms
	Etcd      = "TEST_ETCD"      // an etcd member that does not wait for the disk
)

// Server returns the address of the shared server that the variable names; ok is
// false if the packages of this run share none.
func Server(variable string) (address string, ok bool) {
	address = os.Getenv(variable)
	return address, address != ""
}

// SkipIfShort skips a test that takes long: go test -short and make test leave it
// out, go test and make check run it.
func SkipIfShort(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip(Long)
	}
}

// Long is the reason that a skipped long test gives.
const Long = "long test, left to make check"

// SkipIfRaced skips a simulation in one goroutine, in which the race detector can find
// nothing and takes ten times as long: make check runs it without.
func SkipIfRaced(t testing.TB) {
	t.Helper()
	if raced {
		t.Skip(Simulation)
	}
}

// Simulation is the reason that a skipped simulation gives.
const Simulation = "simulation in one goroutine, run without the race detector"
