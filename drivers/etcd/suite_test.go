package etcd

import (
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/cluster"
	"github.com/stampede-bench/stampede/drivers/cluster/clustertest"
	"github.com/stampede-bench/stampede/drivers/drivertest"
	"github.com/stampede-bench/stampede/internal/testenv"
)

func TestMain(m *testing.M) {
	clustertest.Dispatch(nil)
	os.Exit(m.Run())
}

// started starts a cluster with the given number of members.
func started(ctx context.Context, members int, durability string) (*cluster.Ensemble, error) {
	clustertest.Use()
	return cluster.Start(ctx, Kind(), cluster.Plan{Servers: members, Durability: durability})
}

// address returns the address of one member for all tests, which does not sync to disk: that of
// the test run, or one that ends with this process.
var address = sync.OnceValues(func() (address string, err error) {
	if address, ok := testenv.Server(testenv.Etcd); ok {
		return address, nil
	}
	e, err := started(context.Background(), 1, NoFsync)
	if err != nil {
		return "", err
	}
	return e.Addresses()[0], nil
})

// prefixes counts the services that tests have opened.
var prefixes atomic.Int64

// quick returns a service on the common member.
func quick(t testing.TB) *Service {
	t.Helper()
	at, err := address()
	if err != nil {
		t.Fatal(err)
	}
	// A unique prefix lets every test begin with no keys.
	prefix := fmt.Sprintf("/%s-%d-%d", t.Name(), os.Getpid(), prefixes.Add(1))
	return service(t, Config{Endpoints: []string{at}, Prefix: prefix})
}

func service(t testing.TB, cfg Config) *Service {
	t.Helper()
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// dial opens a session that ends with the test.
func dial(t testing.TB, s *Service, o drivers.Options) *Conn {
	t.Helper()
	c, err := s.Dial(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c.(*Conn)
}

func create(t testing.TB, c drivers.Conn, path string, mode drivers.Mode) drivers.Child {
	t.Helper()
	child, err := c.Create(t.Context(), path, nil, mode)
	if err != nil {
		t.Fatal(err)
	}
	return child
}

func TestConn(t *testing.T) {
	s := quick(t)
	drivertest.Run(t, func(*testing.T) drivers.Service { return s })
}

func TestPersistentWatches(t *testing.T) {
	s := quick(t)
	drivertest.RunPersistent(t, func(*testing.T) drivers.Service { return s })
}
