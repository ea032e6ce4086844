package etcd

import (
	"context"
	"os"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/child"
	"github.com/stampede-bench/stampede/drivers/drivertest"
)

func TestMain(m *testing.M) {
	child.Dispatch(map[string]child.Role{"etcd": func(ctx context.Context, _ []string, ready func(string)) error {
		return Member{NoFsync: true}.Run(ctx, ready)
	}})
	os.Exit(m.Run())
}

// start starts a member and returns its address.
func start(t testing.TB) string {
	t.Helper()
	p, err := child.Start(t.Context(), "etcd")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
	})
	return p.Addr()
}

func service(t testing.TB, cfg Config) *Service {
	t.Helper()
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// An expirer can end a session from outside, as its expiry would.
type expirer struct{ *Service }

func (e expirer) Expire(ctx context.Context, c drivers.Conn) error {
	admin, err := e.Dial(ctx, drivers.Options{})
	if err != nil {
		return err
	}
	defer admin.Close()
	other := admin.(*Conn)
	expired := Conn{library: other.library, lease: lease{id: c.(*Conn).lease.id}}
	return expired.revoke(ctx)
}

func TestConn(t *testing.T) {
	address := start(t)
	drivertest.Run(t, func(t *testing.T) drivers.Service {
		return expirer{service(t, Config{Endpoints: []string{address}})}
	})
}
