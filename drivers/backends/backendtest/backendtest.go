package backendtest

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/drivers/cluster/reexec"
	"github.com/stampede-bench/stampede/drivers/etcd/etcdtest"
	"github.com/stampede-bench/stampede/drivers/zookeeper"
)

// Main is the TestMain of a package whose tests use backends. It lets the test binary be started
// again as a server, and stops the shared servers at the end.
func Main(m *testing.M) {
	etcdtest.Plain()
	reexec.Dispatch(backends.Roles())
	code := m.Run()
	if err := shared.close(); err != nil {
		fmt.Fprintln(os.Stderr, "backendtest:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// Each runs f as a subtest on the native server in this process, which only this subtest uses, and
// on every backend, as [Shared] returns it.
func Each(t *testing.T, f func(t *testing.T, s drivers.Service)) { each(t, Shared, f) }

// EachOwn is like [Each], with backends that only the tests of this package use: see [Own].
func EachOwn(t *testing.T, f func(t *testing.T, s drivers.Service)) { each(t, Own, f) }

func each(t *testing.T, open func(testing.TB, string) drivers.Service, f func(t *testing.T, s drivers.Service)) {
	t.Run("in process", func(t *testing.T) { f(t, InProcess(t)) })
	for _, b := range backends.List() {
		t.Run(b.Scheme, func(t *testing.T) { f(t, open(t, b.Scheme+":")) })
	}
}

// InProcess returns a native server in this process, for this test alone.
func InProcess(t testing.TB) drivers.Service {
	t.Helper()
	s, err := backends.InProcess()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// Shared returns the backend of a URL without an address, e.g. "zookeeper:". If the test run has
// one server of that kind for all packages, it is that server, below a node of this package's own;
// otherwise all tests of the package share one. If the backend is not installed, the test is
// skipped, or fails: see [Lacking].
func Shared(t testing.TB, url string) drivers.Service {
	t.Helper()
	return share(t, common.at(t, url), backends.Options{})
}

// Own returns a backend that only the tests of this package use, for tests of what a
// server counts and of its process.
func Own(t testing.TB, url string) drivers.Service {
	t.Helper()
	return share(t, url, backends.Options{})
}

// Divisible returns a shared ensemble, e.g. "etcd:?servers=3", whose members can be isolated.
func Divisible(t testing.TB, url string) drivers.Ensemble {
	t.Helper()
	return share(t, url, backends.Options{Divisible: true}).(drivers.Ensemble)
}

func share(t testing.TB, url string, o backends.Options) drivers.Service {
	t.Helper()
	if strings.HasPrefix(url, "zookeeper:") {
		if _, err := zookeeper.FindInstallation(); errors.Is(err, zookeeper.ErrNotInstalled) {
			Lacking(t, err)
		}
	}
	s, err := shared.open(url, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Lacking ends a test that needs something that is not available: it skips the test, or fails it if
// REQUIRE_BACKENDS=all.
func Lacking(t testing.TB, why error) {
	t.Helper()
	if os.Getenv("REQUIRE_BACKENDS") == "all" {
		t.Fatalf("REQUIRE_BACKENDS=all, but %v", why)
	}
	t.Skip(why)
}
