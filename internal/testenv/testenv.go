// Package testenv gives a test the facts of its test run: whether long tests run, and which
// servers the packages of the run share.
//
// A program such as internal/testrun starts the shared servers and passes their addresses in
// the environment. Without them, as when go test runs for one package alone, each package
// starts its own servers.
package testenv

import (
	"os"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/internal/parts"
)

// Servers is the environment variable with the path of the program in which tests start servers: see package
// clustertest.
const Servers = "TEST_SERVERS"

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

// SkipIfShort skips a test that make test leaves out: one that real time or chance decides, that needs a program
// which not every machine has, or that takes long. Its reason names the part of make check that runs the test.
func SkipIfShort(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("left to make check-" + part(t))
	}
}

// SkipIfRaced skips a test that the race detector makes ten times slower: a simulation in one goroutine,
// or one of as many sessions as the machine carries. Its part of make check must run it without the detector, which a
// test of package imports verifies.
func SkipIfRaced(t testing.TB) {
	t.Helper()
	if raced {
		t.Skip("too slow under the race detector: make check-" + part(t) + " runs it without")
	}
}

// part returns the part of make check that has a test of the package under test.
func part(t testing.TB) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		t.Fatal("this binary does not say which package it tests")
	}
	path := strings.TrimSuffix(strings.TrimPrefix(info.Path, info.Main.Path+"/"), ".test")
	row, ok := parts.RowOf(path, t.Name())
	if !ok {
		t.Fatalf("no part of make check runs %s of %s: see internal/parts", t.Name(), path)
	}
	return row.Part
}
