package recovery_test

import (
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/server"
	"github.com/stampede-bench/stampede/drivers/traffic"
	"github.com/stampede-bench/stampede/drivers/traffic/proxy"
	"github.com/stampede-bench/stampede/internal/testenv"
	"github.com/stampede-bench/stampede/metrics/recovery"
	"github.com/stampede-bench/stampede/results/units"
)

// A service is a server behind a proxy whose connections can be broken.
type service struct {
	direct string
	proxy  *proxy.Proxy
	a      *recovery.Analysis

	mu    sync.Mutex
	down  bool
	conns []net.Conn
}

func newService(t *testing.T) *service {
	t.Helper()
	return behind(t, backendtest.Native(t, server.Options{Tick: 500 * time.Millisecond}), traffic.ZooKeeper(), recovery.New("zookeeper"))
}

// behind puts a proxy before a server.
func behind(t *testing.T, address string, p traffic.Protocol, a *recovery.Analysis) *service {
	t.Helper()
	s := &service{direct: address, a: a}
	var err error
	s.proxy, err = proxy.Listen([]string{"127.0.0.1:0"}, []proxy.Server{{Address: s.direct}}, proxy.Options{Protocol: p, Observer: s.a})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.proxy.Close() })
	return s
}

var errDown = errors.New("the service is down")

func (s *service) dial(network, address string, _ time.Duration) (net.Conn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down {
		return nil, errDown
	}
	c, err := net.Dial(network, address)
	s.conns = append(s.conns, c)
	return c, err
}

// fault breaks all connections, and refuses new ones until the service is up again if it is to stay down.
func (s *service) fault(kind recovery.Kind, down bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.a.Fault(recovery.Fault{At: time.Now(), What: "test", Kind: kind})
	s.down = down
	for _, c := range s.conns {
		c.Close()
	}
	s.conns = nil
}

func (s *service) up() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = false
}

// connect opens a session that reports its events.
func connect(t *testing.T, address string, dial zk.Dialer, on func(zk.Event)) *zk.Conn {
	t.Helper()
	c, _, err := zk.Connect([]string{address}, 4*time.Second, zk.WithLogger(quiet{}), zk.WithDialer(dial), zk.WithEventCallback(on))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

type quiet struct{}

func (quiet) Printf(string, ...any) {}

// A client registers a node and watches the configuration.
type client struct {
	*zk.Conn
	states  chan zk.State // StateExpired and StateHasSession
	changed <-chan zk.Event
}

func (s *service) client(t *testing.T) *client {
	t.Helper()
	c := &client{states: make(chan zk.State, 100)}
	c.Conn = connect(t, s.proxy.Addresses()[0], s.dial, func(e zk.Event) {
		if e.Type == zk.EventSession && (e.State == zk.StateExpired || e.State == zk.StateHasSession) {
			c.states <- e.State
		}
	})
	c.await(zk.StateHasSession)
	c.register(t)
	c.watch(t)
	return c
}

func (c *client) register(t *testing.T) {
	t.Helper()
	if _, err := c.Create("/svc/member-", nil, zk.FlagEphemeral|zk.FlagSequence, zk.WorldACL(zk.PermAll)); err != nil {
		t.Fatal(err)
	}
}

func (c *client) watch(t *testing.T) {
	t.Helper()
	var err error
	if _, _, c.changed, err = c.GetW("/config"); err != nil {
		t.Fatal(err)
	}
}

// await waits for a state of the session.
func (c *client) await(state zk.State) {
	for <-c.states != state {
	}
}

func (s *service) begin(t *testing.T) (admin *zk.Conn, all []*client) {
	t.Helper()
	admin = connect(t, s.direct, net.DialTimeout, func(zk.Event) {})
	for _, path := range []string{"/svc", "/config"} {
		if _, err := admin.Create(path, nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		all = append(all, s.client(t))
	}
	return admin, all
}

func (s *service) outcome(t *testing.T) recovery.Outcome {
	t.Helper()
	s.proxy.Flush()
	s.a.Advance(time.Now())
	r := s.a.Report()
	if len(r.Outcomes) != 1 {
		t.Fatalf("%d outcomes, want 1", len(r.Outcomes))
	}
	t.Log(r.Sentence(recovery.Format{Duration: units.Duration, Count: units.Count}))
	return r.Outcomes[0]
}

// TestRealSessionsAreResumed breaks the connections of a library that sets its watches again by itself. All watches fire
// afterwards.
func TestRealSessionsAreResumed(t *testing.T) {
	testenv.SkipIfShort(t)
	s := newService(t)
	admin, all := s.begin(t)
	s.fault(recovery.Disconnected, false)
	for _, c := range all {
		c.await(zk.StateHasSession)
	}
	if _, err := admin.Set("/config", []byte("new"), -1); err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		<-c.changed
	}
	o := s.outcome(t)
	if o.Verdict != recovery.Recovers || o.Resumed != 3 || o.Nodes.Back != 3 || o.Watches.Back != 3 || o.Refused != 0 {
		t.Errorf("got %+v, want three resumed sessions", o)
	}
}

// TestRealSessionsAreReplaced has the service be down until it has ended the sessions. Of the new ones, one registers and
// watches again, one only registers, and one does neither.
func TestRealSessionsAreReplaced(t *testing.T) {
	testenv.SkipIfShort(t)
	s := newService(t)
	admin, all := s.begin(t)
	s.fault(recovery.Expired, true)
	for {
		children, _, changed, err := admin.ChildrenW("/svc")
		if err != nil {
			t.Fatal(err)
		}
		if len(children) == 0 {
			break
		}
		<-changed
	}
	s.up()
	for i, c := range all {
		c.await(zk.StateExpired)
		c.await(zk.StateHasSession)
		if i < 2 {
			c.register(t)
		}
		if i < 1 {
			c.watch(t)
		}
	}
	o := s.outcome(t)
	if o.Verdict != recovery.RecoversPartly || o.Replaced != 3 || o.Recovered != 1 || o.Partly != 1 || o.Not != 1 || o.Refused != 3 ||
		o.Nodes.Had != 3 || o.Nodes.Back != 2 || o.Nodes.Duplicated != 0 || o.Watches.Had != 3 || o.Watches.Back != 1 {
		t.Errorf("got %+v, want three replaced sessions, with two nodes and one watch", o)
	}
}
