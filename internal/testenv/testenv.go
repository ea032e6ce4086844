// Package testenv gives a test the facts of its test run: whether long tests run, and which
// servers the packages of the run share.
//
// A program such as internal/testrun starts the shared servers and passes their addresses in
// the environment. Without them, as when go test runs for one package alone, each package
// starts its own servers.
package testenv

import (
	"os"
	"testing"
)

// The environment variables with the addresses of the shared servers, as host:port.
const (
	ZooKeeper = "TEST_ZOOKEEPER" // an Apache ZooKeeper with a tick of 500 ms
	Etcd      = "TEST_ETCD"      // an etcd member that does not wait for the disk
)

// Server returns the address of the shared server in the given variable; ok is false if the
// packages of this run share none.
func Server(variable string) (address string, ok bool) {
	address = os.Getenv(variable)
	return address, address != ""
}

// SkipIfShort skips a long test: go test -short and make test skip it, go test and make check
// run it.
func SkipIfShort(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip(Long)
	}
}

// Long is the reason given for a skipped long test.
const Long = "long test, left to make check"

// SkipIfRaced skips a test that the race detector makes ten times slower: a simulation in one goroutine,
// or one of as many sessions as the machine carries. The check target of the Makefile must run it without
// the detector, which TestCheckRunsWhatTheRaceDetectorSkips verifies.
func SkipIfRaced(t testing.TB) {
	t.Helper()
	if raced {
		t.Skip(Simulation)
	}
}

// Simulation is the reason given for a test skipped under the race detector.
const Simulation = "too slow under the race detector: make check runs it without"
