package backendtest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/drivers/cluster/clustertest"
	"github.com/stampede-bench/stampede/drivers/server"
	"github.com/stampede-bench/stampede/drivers/server/raftlog"
	"github.com/stampede-bench/stampede/drivers/zookeeper"
	"github.com/stampede-bench/stampede/internal/testenv"
)

// Main is the TestMain of a package whose tests use backends. It lets them start servers, and stops the shared
// ones at the end.
func Main(m *testing.M) {
	clustertest.Dispatch(nil)
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
	return share(t, common.urlOn(t, url), backends.Options{})
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
	clustertest.Use()
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

// common has the servers that all packages of this test run share.
var common commonServers

// commonServers has the places on them for the tests of this package: node paths that no other
// package uses.
type commonServers struct {
	mu     sync.Mutex
	places map[string]string // by environment variable: //address/node
}

// urlOn returns the URL with the place on the common server of its kind. It returns url unchanged if
// the test run has none or url asks for several servers.
func (c *commonServers) urlOn(t testing.TB, url string) string {
	t.Helper()
	scheme, query, _ := strings.Cut(url, ":")
	variable := map[string]string{"zookeeper": testenv.ZooKeeper, "etcd": testenv.Etcd}[scheme]
	address, ok := testenv.Server(variable)
	if !ok || strings.Contains(query, "servers=") {
		return url
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.places == nil {
		c.places = map[string]string{}
	}
	if c.places[variable] == "" {
		c.places[variable] = "//" + address + makeRoot(t, scheme, address)
	}
	return scheme + ":" + c.places[variable] + query
}

// makeRoot makes a node for the tests of this package and returns its path.
func makeRoot(t testing.TB, scheme, address string) string {
	t.Helper()
	service, err := start(scheme+"://"+address, backends.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := service.Dial(context.Background(), drivers.Options{})
	if err != nil {
		t.Fatalf("the %s that the packages of this test run share: %v", scheme, err)
	}
	defer c.Close()
	root, err := c.Create(context.Background(), "/test-", nil, drivers.Sequential)
	if err != nil {
		t.Fatal(err)
	}
	return "/" + root.Name
}

// Member returns a native server in this process that is the only member of its ensemble, for this test
// alone. It leads soon.
func Member(t testing.TB) *server.Server {
	t.Helper()
	log, err := raftlog.Open(t.TempDir(), raftlog.Member{ID: 1, Voters: []uint64{1}})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(errors.Join(err, log.Close()))
	}
	s, err := server.NewMember(server.Options{}, server.Ensemble{
		ID: 1, Addresses: map[uint64]string{1: l.Addr().String()}, Listener: l, Secret: []byte("sixteen bytes or more"), Log: log})
	if err != nil {
		t.Fatal(errors.Join(err, l.Close(), log.Close()))
	}
	t.Cleanup(func() {
		s.Close()
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}
