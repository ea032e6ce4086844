package etcd

import (
	"context"
	"os"
	"sync"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/child"
	"github.com/stampede-bench/stampede/drivers/drivertest"
)

func TestMain(m *testing.M) {
	child.Dispatch(map[string]child.Role{"etcd": func(ctx context.Context, args []string, ready func(string)) error {
		return RunMember(ctx, args[0], ready)
	}})
	os.Exit(m.Run())
}

// member is one for all tests, which does not wait for the disk. It ends with
// this process.
var member = sync.OnceValues(func() (*child.Process, error) {
	return child.Start(context.Background(), "etcd", NoFsync)
})

// quick is the service of the common member.
func quick(t testing.TB) *Service {
	t.Helper()
	p, err := member()
	if err != nil {
		t.Fatal(err)
	}
	// A prefix of its own lets every test begin with nothing.
	return service(t, Config{Endpoints: []string{p.Addr()}, Prefix: "/" + t.Name()})
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
