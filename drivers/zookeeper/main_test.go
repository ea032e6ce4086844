package zookeeper

import (
	"context"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/cluster"
	"github.com/stampede-bench/stampede/drivers/cluster/reexec"
	"github.com/stampede-bench/stampede/internal/testenv"
)

func TestMain(m *testing.M) {
	reexec.Dispatch(map[string]reexec.Role{cluster.KeeperRole: cluster.Keep, "zookeeper": cluster.InPlace(RunMember)})
	os.Exit(m.Run())
}

// apache returns the address of the one server of all tests that need one: the test run's, or
// one that ends with this process.
var apache = sync.OnceValues(func() (address string, err error) {
	if address, ok := testenv.Server(testenv.ZooKeeper); ok {
		return address, nil
	}
	e, err := cluster.Start(context.Background(), Kind(), cluster.Plan{Servers: 1})
	if err != nil {
		return "", err
	}
	return e.Addresses()[0], nil
})

// patience is how long a test waits for the server. Only a defect takes that long, not a busy
// machine.
const patience = 10 * time.Minute

// fixture is a node of the test's own on the local server.
type fixture struct {
	*Service
	address string
	root    string
	ctx     context.Context
}

// onLocal creates a persistent node named after the test, below which the test works.
func onLocal(tb testing.TB) *fixture {
	tb.Helper()
	requireLocal(tb)
	address, err := apache()
	if err != nil {
		tb.Fatal(err)
	}
	return onServer(tb, address)
}

// onOwn is onLocal on a server that only this test uses, and whose counts are those of this test.
func onOwn(tb testing.TB) *fixture {
	tb.Helper()
	requireLocal(tb)
	e, err := cluster.Start(tb.Context(), Kind(), cluster.Plan{Servers: 1})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := e.Close(); err != nil {
			tb.Error(err)
		}
	})
	return onServer(tb, e.Addresses()[0])
}

func onServer(tb testing.TB, address string) *fixture {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), patience)
	tb.Cleanup(cancel)
	s := serviceOf(tb, Config{Servers: []string{address}})
	f := &fixture{Service: s, address: address, ctx: ctx}
	made, err := f.dial(tb, drivers.Options{}).Create(ctx, "/test-", nil, drivers.Sequential)
	if err != nil {
		tb.Fatal(err)
	}
	f.root = "/" + made.Name
	return f
}

func serviceOf(tb testing.TB, c Config) *Service {
	tb.Helper()
	s, err := New(c)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// dial opens a session that is closed when the test ends.
func (f *fixture) dial(tb testing.TB, o drivers.Options) *Conn {
	tb.Helper()
	c, err := f.Service.Dial(f.ctx, o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { c.Close() })
	return c.(*Conn)
}

// create makes a node below the fixture's and returns its path.
func (f *fixture) create(tb testing.TB, c drivers.Conn, name string, mode drivers.Mode) string {
	tb.Helper()
	made, err := c.Create(f.ctx, f.root+"/"+name, nil, mode)
	if err != nil {
		tb.Fatal(err)
	}
	return f.root + "/" + made.Name
}

// recorder is a Watch that records events.
type recorder struct{ events chan drivers.Event }

func newRecorder() *recorder { return &recorder{make(chan drivers.Event, 16)} }

func (r *recorder) watch(e drivers.Event) { r.events <- e }

// only returns the only event so far.
func (r *recorder) only(tb testing.TB) drivers.Event {
	tb.Helper()
	if n := len(r.events); n != 1 {
		tb.Fatalf("the watch was called %d times, want once", n)
	}
	return <-r.events
}

// probeFunc is a probe.
type probeFunc func(drivers.Message)

func (p probeFunc) Message(m drivers.Message) { p(m) }
