package backendtest

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/internal/testenv"
)

// common has the servers that all packages of this test run share.
var common commonServers

// commonServers has the places on them for the tests of this package: node paths that no other
// package uses.
type commonServers struct {
	mu     sync.Mutex
	places map[string]string // by environment variable: //address/node
}

// at returns the URL with the place on the common server of its kind. It returns url unchanged if
// the test run has none or url asks for several servers.
func (c *commonServers) at(t testing.TB, url string) string {
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
