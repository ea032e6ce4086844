package catalog_test

import (
	"context"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/ensemble"
	"github.com/stampede-bench/stampede/drivers/lean"
	"github.com/stampede-bench/stampede/drivers/server"
	"github.com/stampede-bench/stampede/internal/bubble"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads"
)

// TestFormsUnderManySchedules checks that every form stays safe and makes progress under
// any schedule: replies and notifications arrive late, and some replies are lost together
// with their connection. Each seed is a schedule; SEEDS is the number of schedules.
//
//	SEEDS=500 go test -run Schedules ./workloads/catalog
func TestFormsUnderManySchedules(t *testing.T) {
	for _, f := range ownForms(t) {
		t.Run(f.String(), func(t *testing.T) {
			for seed := range seeds() {
				bubble.Test(t, func(t *testing.T) { underSchedule(t, f, seed) })
			}
		})
	}
}

// TestFormsUnderFaults checks that every form stays safe and makes progress under client
// faults: sessions expire; connections break, or are slow, narrow or silent; clients
// freeze; replies are lost. Each seed is a schedule.
//
//	SEEDS=500 go test -run Faults ./workloads/catalog
func TestFormsUnderFaults(t *testing.T) {
	for _, f := range ownForms(t) {
		t.Run(f.String(), func(t *testing.T) {
			for seed := range seeds() {
				bubble.Test(t, func(t *testing.T) { underFaults(t, f, seed) })
			}
		})
	}
}

func underFaults(t *testing.T, f workloads.Form, seed uint64) {
	p := workloads.Plan{
		Service: inProcess(t, 500*time.Millisecond), Form: f, Clients: 4, Duration: 15 * time.Second, Seed: seed,
		Settings: workloads.Settings{Hold: 50 * time.Millisecond, Think: 50 * time.Millisecond, Outage: 250 * time.Millisecond, Mix: workloads.MixSettings{
			Reads: 0.4, Lists: 0.2, Creates: 0.2, Conditional: true, Keys: 5, Watchers: 1}},
	}
	p.Faults = p.Nemesis(p.Seed, 2*time.Second)
	r, err := workloads.Run(t.Context(), p)
	switch {
	case err != nil:
		t.Errorf("seed %d: %v\n%s", seed, err, p.Faults)
	case r.Safety.Violations != 0 || r.Safety.Checked == 0:
		t.Errorf("seed %d: %+v\n%s", seed, r.Safety, p.Faults)
	case len(r.Recoveries) != len(p.Faults):
		t.Errorf("seed %d: %d faults of %d came\n%s", seed, len(r.Recoveries), len(p.Faults), p.Faults)
	case slices.ContainsFunc(r.Doubts, func(d metrics.Warning) bool { return d.Code == metrics.Abandoned }):
		t.Errorf("seed %d: rounds were abandoned\n%s", seed, p.Faults)
	}
}

// inProcess returns the service of a native server in this process that looks for expired sessions at each tick.
func inProcess(t *testing.T, tick time.Duration) *lean.Service {
	t.Helper()
	on := server.New(server.Options{Tick: tick})
	t.Cleanup(on.Close)
	s, err := lean.New(ensemble.Config{Servers: []string{"in-process"},
		Dial: func(context.Context, string) (net.Conn, error) { return on.Dial("", "", 0) }})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// seeds returns the number of schedules for each form.
func seeds() uint64 {
	n, err := strconv.ParseUint(os.Getenv("SEEDS"), 10, 64)
	if err != nil {
		return 1
	}
	return n
}

// ownForms returns all forms except those of client libraries, which may give up after a
// lost reply.
func ownForms(t *testing.T) []workloads.Form {
	return slices.DeleteFunc(served(t, backendtest.InProcess(t)), func(f workloads.Form) bool { return f.Client != "" })
}

func underSchedule(t *testing.T, f workloads.Form, seed uint64) {
	u := newUnsteady(t, seed)
	defer u.server.Close()
	const rounds = 20
	r, err := workloads.Run(t.Context(), workloads.Plan{
		Service: u, Form: f, Clients: 4, Rounds: rounds, Seed: seed,
		Settings: workloads.Settings{Hold: time.Millisecond, Outage: 250 * time.Millisecond, Mix: workloads.MixSettings{
			Reads: 0.4, Lists: 0.2, Creates: 0.2, Conditional: true, Keys: 5, Watchers: 1}},
	})
	switch {
	case err != nil:
		t.Errorf("seed %d: %v", seed, err)
	case r.Safety.Violations != 0 || r.Safety.Checked == 0:
		t.Errorf("seed %d: %+v", seed, r.Safety)
	case r.Rounds < rounds:
		t.Errorf("seed %d: %d rounds of %d, %v", seed, r.Rounds, rounds, r.Warnings)
	}
}

// unsteady is a service that runs a native server. It delays replies by random times,
// and loses one reply in fifty.
type unsteady struct {
	drivers.Service
	server *server.Server

	mu   sync.Mutex
	rand *rand.Rand
}

func newUnsteady(t *testing.T, seed uint64) *unsteady {
	t.Helper()
	u := &unsteady{server: server.New(server.Options{Tick: time.Second}), rand: rand.New(rand.NewPCG(seed, 0))}
	var err error
	u.Service, err = lean.New(ensemble.Config{Servers: []string{"in-process"}, Dial: u.connect})
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func (u *unsteady) below(n int) int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.rand.IntN(n)
}

func (u *unsteady) connect(context.Context, string) (net.Conn, error) {
	c, err := u.server.Dial("", "", 0)
	return slow{c, u}, err
}

func (u *unsteady) Dial(ctx context.Context, o drivers.Options) (drivers.Conn, error) {
	var opened atomic.Bool // etcd opens a session by several calls
	o.LoseReply = func(m drivers.Message) bool {
		return u.below(50) == 0 && opened.Load() && m.Op != drivers.OpOpen && m.Op != drivers.OpClose
	}
	c, err := u.Service.Dial(ctx, o)
	opened.Store(true)
	return c, err
}

// Expire expires a session, as the underlying service does.
func (u *unsteady) Expire(ctx context.Context, c drivers.Conn) error {
	return u.Service.(drivers.Expirer).Expire(ctx, c)
}

// slow is a connection that delivers incoming data late.
type slow struct {
	net.Conn
	service *unsteady
}

func (s slow) Read(p []byte) (int, error) {
	n, err := s.Conn.Read(p)
	time.Sleep(time.Duration(s.service.below(3000)) * time.Microsecond)
	return n, err
}
