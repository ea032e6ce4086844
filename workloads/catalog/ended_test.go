package catalog_test

import (
	"context"
	"math"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/ensemble"
	"github.com/stampede-bench/stampede/drivers/lean"
	"github.com/stampede-bench/stampede/drivers/server"
	"github.com/stampede-bench/stampede/drivers/wire"
	"github.com/stampede-bench/stampede/internal/bubble"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads"
)

// TestFormsWhoseSessionTheServiceEnds checks that a run without faults survives a session that the service ends,
// whatever its form. The client learns what its lost session has cost it before it learns of the loss.
func TestFormsWhoseSessionTheServiceEnds(t *testing.T) {
	for _, f := range ownForms(t) {
		if f.Recipe == "reconnect" { // its clients give up their sessions in every round
			continue
		}
		t.Run(f.String(), func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) { whoseSessionEnds(t, f) })
		})
	}
}

func whoseSessionEnds(t *testing.T, f workloads.Form) {
	server := server.New(server.Options{Tick: 500 * time.Millisecond})
	defer server.Close()
	const ends = 3
	var last atomic.Pointer[closable]
	var ended atomic.Int64
	s, err := lean.New(ensemble.Config{Servers: []string{"in-process"}, Dial: func(context.Context, string) (net.Conn, error) {
		if ended.Load() > 0 { // the client learns by a connection that takes a while
			time.Sleep(100 * time.Millisecond)
		}
		c, err := server.Dial("", "", 0)
		return &closable{Conn: c, last: &last, writes: leastWrites(f)}, err
	}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := workloads.Run(t.Context(), workloads.Plan{
		Service: s, Form: f, Clients: 4, Warmup: 250 * time.Millisecond, Duration: 3 * time.Second, Seed: 1,
		Settings: workloads.Settings{Hold: 50 * time.Millisecond, Think: 20 * time.Millisecond, Mix: workloads.MixSettings{
			Reads: 0.4, Lists: 0.2, Creates: 0.2, Conditional: true, Keys: 5, Watchers: 1}},
		Progress: func(p workloads.Progress) {
			if n := ended.Load(); n < ends && p.Elapsed >= time.Duration(n+2)*500*time.Millisecond {
				ended.Add(1)
				last.Load().endSession()
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	lost := drivers.ErrSessionLost.Error()
	if r.Safety.Violations != 0 || r.Sessions.Lost != ends || len(r.Errors) != 1 || r.Errors[lost] != ends {
		t.Errorf("%+v, %+v, errors %v; want %d sessions lost", r.Safety, r.Sessions, r.Errors, ends)
	}
	if i := slices.IndexFunc(r.Warnings, func(w metrics.Warning) bool { return w.Code == metrics.Disconnected }); i < 0 ||
		r.Warnings[i].Numbers["lost"] != ends {
		t.Errorf("warnings %+v; want one of %d sessions lost", r.Warnings, ends)
	}
}

// A closable connection lets the test end its session as if the client had asked for it.
type closable struct {
	net.Conn
	last   *atomic.Pointer[closable] // the connection of the session opened last
	mu     sync.Mutex
	writes int // until it is the last
}

// leastWrites returns how many writes show that a connection's session stays, which the form itself does not end.
func leastWrites(f workloads.Form) int {
	if f.Recipe == "sessions" && (f.Name == "connect" || f.Name == "expire") {
		return 4
	}
	return 1
}

func (c *closable) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(p) > len("mntr") {
		if c.writes--; c.writes == 0 {
			c.last.Store(c)
		}
	}
	return c.Conn.Write(p)
}

// endSession makes the server end the session, which deletes its nodes and tells the session's own watches of
// that before the connection closes.
func (c *closable) endSession() {
	p := wire.RequestHeader{Xid: math.MaxInt32, Op: wire.OpCloseSession}.Append(wire.Begin(nil))
	wire.End(p, 0)
	c.Write(p)
}
