// Package backendtest runs tests on every available backend.
//
//	func TestMain(m *testing.M) { backendtest.Main(m) }
//
//	func TestSomething(t *testing.T) {
//		backendtest.Each(t, func(t *testing.T, s drivers.Service) { … })
//	}
//
// The servers are started on first use and shared by the tests of a package, so each test
// works below a node of its own. Tests that need a ZooKeeper that is not installed are
// skipped and say what to install; with REQUIRE_BACKENDS=all in the environment they
// fail.
package backendtest
