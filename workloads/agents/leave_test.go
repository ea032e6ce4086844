package agents

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/server"
	"github.com/stampede-bench/stampede/internal/await"
	"github.com/stampede-bench/stampede/workloads/agents/clock"
	"github.com/stampede-bench/stampede/workloads/agents/control"
	"github.com/stampede-bench/stampede/workloads/namespace"
)

// A cutOff is a service whose sessions fail each read of a node as if they had ended, and never end: a call may notice
// the end before the session's Done does.
type cutOff struct {
	drivers.Service
	at string // how the paths of those nodes end
}

func (s cutOff) Dial(ctx context.Context, o drivers.Options) (drivers.Conn, error) {
	c, err := s.Service.Dial(ctx, o)
	return cutOffConn{c, s.at}, err
}

type cutOffConn struct {
	drivers.Conn
	at string
}

func (c cutOffConn) Exists(ctx context.Context, path string, w drivers.Watch) (drivers.Stat, bool, error) {
	if strings.HasSuffix(path, c.at) {
		return drivers.Stat{}, false, drivers.ErrSessionLost
	}
	return c.Conn.Exists(ctx, path, w)
}

// TestAnAgentThatIsCutOffRemovesTheRun has an agent that learns from a call that its session has ended, at each
// document of a run that it reads. Its coordinator has gone without removing the nodes.
func TestAnAgentThatIsCutOffRemovesTheRun(t *testing.T) {
	for _, document := range []string{"run-1." + assigned, "run-2." + announced} {
		t.Run(document, func(t *testing.T) {
			address := backendtest.Native(t, server.Options{})
			service := backendtest.Open(t, "native://"+address, drivers.Security{})
			plane := func(at string) *control.Plane {
				s, err := control.Given("native://" + address)
				if err != nil {
					t.Fatal(err)
				}
				p, err := control.Connect(t.Context(), cutOff{s, at}, time.Minute)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { p.Close() })
				return p
			}
			coordinator := plane("none")
			leadWithClock(t, coordinator)

			maker, err := service.Dial(t.Context(), drivers.Options{})
			if err != nil {
				t.Fatal(err)
			}
			at := site{Number: 1, Service: "native://" + address, Namespace: "/agents", Base: namespace.Path("/agents").NewBase()}
			if err := at.namespace().MakeBase(t.Context(), maker, at.Base); err != nil {
				t.Fatal(err)
			}
			if err := namespace.CreateNode(t.Context(), maker, at.Base+"/left", nil, 0); err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(
				coordinator.PutJSON(t.Context(), at.document(announced), at),
				coordinator.PutJSON(t.Context(), at.document(assigned), assignment{site: at, Form: "lock/predecessor"}),
				maker.Close()); err != nil {
				t.Fatal(err)
			}

			a := &Agent{Agent: control.Agent{Name: "a1", Version: "test"}, Plane: plane("/" + document)}
			ended := make(chan error, 1)
			go func() { ended <- a.Run(t.Context()) }()
			if err := await.Value(t, "the agent ends", ended); !errors.Is(err, ErrCutOff) {
				t.Errorf("the agent ended with %v, want %v", err, ErrCutOff)
			}
			nothingLeft(t, service)
		})
	}
}

// leadWithClock makes the plane that of a coordinator with a clock.
func leadWithClock(t *testing.T, p *control.Plane) {
	t.Helper()
	peer, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { peer.Close() })
	key := clock.NewKey()
	go clock.Serve(peer, key, clock.StartClock().CoordinatorNow)
	if err := p.Lead(t.Context(), control.Coordinator{Version: "test", Clock: peer.LocalAddr().String(), Key: key}); err != nil {
		t.Fatal(err)
	}
}
