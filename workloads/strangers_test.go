package workloads_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/ensemble"
	"github.com/stampede-bench/stampede/drivers/lean"
	"github.com/stampede-bench/stampede/drivers/server"
	"github.com/stampede-bench/stampede/internal/bubble"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/runtest"
)

// onServers runs a test with a service of several addresses, each of which leads to the server of that name without its number:
// one-1 and one-2 are the same.
func onServers(t *testing.T, names []string, test func(t *testing.T, s drivers.Service)) {
	t.Helper()
	bubble.Test(t, func(t *testing.T) {
		servers := map[string]*relay{}
		serverOf := func(name string) string { name, _, _ = strings.Cut(name, "-"); return name }
		for _, name := range names {
			if servers[serverOf(name)] == nil {
				servers[serverOf(name)] = &relay{server: server.New(server.Options{Tick: 500 * time.Millisecond}), conns: map[net.Conn]net.Conn{}}
				defer servers[serverOf(name)].server.Close()
			}
		}
		s, err := lean.New(ensemble.Config{Servers: names, Dial: func(ctx context.Context, address string) (net.Conn, error) {
			host, _, err := net.SplitHostPort(address)
			if err != nil {
				return nil, err
			}
			return servers[serverOf(host)].dial(ctx, address)
		}})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		test(t, s)
	})
}

// TestTogether tells the addresses of one server from those of several, also of servers that are at the same position.
func TestTogether(t *testing.T) {
	for _, c := range []struct {
		names []string
		ahead int // sessions that were opened before
		want  error
	}{
		{[]string{"one"}, 0, nil},
		{[]string{"one-1", "one-2", "one-3"}, 0, nil},
		{[]string{"one", "other"}, 0, drivers.ErrNotOneService},
		{[]string{"one", "other"}, 1, drivers.ErrNotOneService},
		{[]string{"one", "other"}, 2, drivers.ErrNotOneService},
		{[]string{"one-1", "one-2", "other"}, 0, drivers.ErrNotOneService},
	} {
		onServers(t, c.names, func(t *testing.T, s drivers.Service) {
			for range c.ahead {
				before, err := s.Dial(t.Context(), drivers.Options{})
				if err != nil {
					t.Fatal(err)
				}
				defer before.Close()
			}
			if err := drivers.Together(t.Context(), s, drivers.Options{NoEphemerals: true}); !errors.Is(err, c.want) {
				t.Errorf("%q, %d sessions ahead: %v, want %v", c.names, c.ahead, err, c.want)
			}
		})
	}
}

// TestServersOfNoEnsemble runs every kind of form on two servers that do not know each other. The run ends before it begins,
// with an error that names both positions: a form would take what one server does not know for its own failure, or for
// a violation.
func TestServersOfNoEnsemble(t *testing.T) {
	for _, form := range []string{"lock/predecessor", "barrier/watch", "queue/cached-list", "config/watch", "mix/operations"} {
		onServers(t, []string{"one", "other"}, func(t *testing.T, s drivers.Service) {
			began := time.Now()
			p := runtest.MixPlan(s, workloads.MixSettings{Reads: 0.5})
			p.Form = formOf(t, form)
			_, err := workloads.Run(t.Context(), p)
			if !errors.Is(err, drivers.ErrNotOneService) {
				t.Errorf("%s: %v", form, err)
			}
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("%s: it took %v", form, took)
			}
		})
	}
}
