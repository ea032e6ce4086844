package workloads_test

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers/ensemble"
	"github.com/stampede-bench/stampede/drivers/lean"
	"github.com/stampede-bench/stampede/drivers/server"
	"github.com/stampede-bench/stampede/internal/bubble"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/runtest"
)

// TestServersOfNoEnsemble runs every kind of form on two servers that do not know each other. The run ends before it begins,
// with an error that names both positions: a form would take what one server does not know for its own failure, or for
// a violation.
func TestServersOfNoEnsemble(t *testing.T) {
	for _, form := range []string{"lock/predecessor", "barrier/watch", "queue/cached-list", "config/watch", "mix/operations"} {
		bubble.Test(t, func(t *testing.T) {
			servers := map[string]*relay{}
			for _, name := range []string{"one", "other"} {
				servers[name] = &relay{server: server.New(server.Options{Tick: 500 * time.Millisecond}), conns: map[net.Conn]net.Conn{}}
				defer servers[name].server.Close()
			}
			s, err := lean.New(ensemble.Config{Servers: []string{"one", "other"}, Dial: func(ctx context.Context, address string) (net.Conn, error) {
				host, _, err := net.SplitHostPort(address)
				if err != nil {
					return nil, err
				}
				return servers[host].dial(ctx, address)
			}})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			began := time.Now()
			p := runtest.MixPlan(s, workloads.MixSettings{Reads: 0.5})
			p.Form = formOf(t, form)
			_, err = workloads.Run(t.Context(), p)
			if err == nil || !strings.Contains(err.Error(), "they are not servers of one ensemble") {
				t.Errorf("%s: %v", form, err)
			}
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("%s: it took %v", form, took)
			}
		})
	}
}
