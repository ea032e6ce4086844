// Package backendtest runs tests on every backend that can be had.
//
//	func TestMain(m *testing.M) { backendtest.Main(m) }
//
//	func TestSomething(t *testing.T) {
//		backendtest.Each(t, func(t *testing.T, s drivers.Service) { … })
//	}
//
// The servers are started when first asked for and shared by the tests of a
// package, so each test works below a node of its own. Where there is no
// ZooKeeper the tests that need it are skipped and say what to install;
// with REQUIRE_BACKENDS=all in the environment they fail.
package backendtest
