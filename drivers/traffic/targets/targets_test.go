package targets_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/cluster/faults"
	"github.com/stampede-bench/stampede/drivers/server"
	"github.com/stampede-bench/stampede/drivers/traffic"
	"github.com/stampede-bench/stampede/drivers/traffic/etcd"
	"github.com/stampede-bench/stampede/drivers/traffic/proxy"
	"github.com/stampede-bench/stampede/drivers/traffic/targets"
	"github.com/stampede-bench/stampede/internal/await"
	"github.com/stampede-bench/stampede/internal/testenv"
)

func TestMain(m *testing.M) { backendtest.Main(m) }

// A stage has a service behind a proxy whose clients are targets.
type stage struct {
	*targets.Program
	proxy          *proxy.Proxy
	seen           *record
	received       *record // what clients have got
	scheme, server string  // the first one's address
	protocol       traffic.Protocol
	service        endingService
	servers        []drivers.Member // to break, if there are any
	direct         drivers.Conn     // a session that does not pass the proxy
	through        string           // the URL of the proxy

	security drivers.Security // of clients that connect to the proxy, zero without TLS
}

// An endingService is one at which sessions are ended and nodes are changed.
type endingService interface {
	targets.Ender
	Read(ctx context.Context, path string) error
	Rewrite(ctx context.Context, path string) (int64, error)
}

// each runs a test on a server of each backend.
func each(t *testing.T, f func(t *testing.T, s *stage)) {
	for scheme, address := range map[string]func(testing.TB) string{
		"native":    func(t testing.TB) string { return backendtest.Native(t, server.Options{}) },
		"zookeeper": backendtest.SharedZooKeeper,
		"etcd":      backendtest.SharedEtcd,
	} {
		t.Run(scheme, func(t *testing.T) { f(t, newStage(t, scheme, address(t))) })
	}
}

func newStage(t *testing.T, scheme string, servers ...string) *stage {
	return newStageBehind(t, nil, drivers.Security{}, scheme, servers...)
}

// newStageBehind returns a stage whose proxy has a configuration of TLS, nil for none, which clients with the security accept.
func newStageBehind(t *testing.T, encryption *tls.Config, security drivers.Security, scheme string, servers ...string) *stage {
	s := &stage{scheme: scheme, server: servers[0], seen: new(record), received: new(record), security: security}
	protocol := traffic.ZooKeeper()
	var end endingService = targets.Sessions{Servers: servers, Dial: func(ctx context.Context, server string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", server)
	}}
	if scheme == "etcd" {
		protocol = etcd.Protocol()
		c, err := clientv3.New(clientv3.Config{Endpoints: servers, Logger: zap.NewNop()})
		must(t, err)
		t.Cleanup(func() { c.Close() })
		end = targets.Leases{Client: c}
	}
	s.Program, s.service = targets.New(protocol, end), end
	s.protocol, s.Received = protocol, s.received.Open
	var behind []proxy.Server
	for _, address := range servers {
		behind = append(behind, proxy.Server{Address: address})
	}
	var err error
	s.proxy, err = proxy.Listen([]string{"127.0.0.1:0"}, behind, proxy.Options{Protocol: protocol, Observer: s.seen, Through: s.Wrap, TLS: encryption})
	must(t, err)
	t.Cleanup(func() { s.proxy.Close(); s.Close() })
	s.direct = s.dial(t, scheme+"://"+servers[0], nil)
	s.through = scheme + "://" + s.proxy.Addresses()[0]
	for _, more := range s.proxy.Addresses()[1:] {
		s.through += "," + more
	}
	return s
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// dial opens a session whose states go to the channel, unless that is nil.
func (s *stage) dial(t *testing.T, url string, states chan drivers.State) drivers.Conn {
	t.Helper()
	target, err := backends.Parse(url)
	must(t, err)
	if url == s.through {
		target, err = target.WithOptions(backends.Options{Security: s.security})
		must(t, err)
	}
	service, err := target.Open(t.Context())
	must(t, err)
	c, err := service.Dial(t.Context(), drivers.Options{SessionTimeout: time.Minute, OnState: func(state drivers.State) {
		if states != nil {
			states <- state
		}
	}})
	must(t, err)
	t.Cleanup(func() { c.Close(); service.Close() })
	return c
}

// client opens a session through the proxy.
func (s *stage) client(t *testing.T) (drivers.Conn, chan drivers.State) {
	states := make(chan drivers.State, 100)
	return s.dial(t, s.through, states), states
}

// path returns a node that no other test has.
func (s *stage) path(t *testing.T, name string) string {
	return fmt.Sprintf("/%x-%s", time.Now().UnixNano(), name)
}

// do performs a fault now, and returns what was done.
func (s *stage) do(t *testing.T, fault string) (done []faults.Done) {
	t.Helper()
	f, err := faults.Parse("at=0s " + fault)
	must(t, err)
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	err = faults.Schedule{f}.Do(ctx, faults.Subjects{Program: s, Servers: s.servers}, func(d faults.Done) {
		if done = append(done, d); len(done) == len(f.Steps)*max(1, f.Times) {
			stop()
		}
	})
	must(t, err)
	return done
}

// record is an Observer that counts connections and the messages of each.
type record struct {
	mu       sync.Mutex
	opened   []string // the servers of all connections
	messages []string
}

func (r *record) Missed(traffic.Undecoded) {}
func (r *record) Open(c traffic.Connection) traffic.Tap {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.opened = append(r.opened, c.Server)
	return seen{r}
}

func (r *record) connections() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.opened)
}

// count returns how many messages of a kind about a node were seen.
func (r *record) count(k drivers.MessageKind, op drivers.Op, path string) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range r.messages {
		if m == text(k, op, path) {
			n++
		}
	}
	return n
}

func text(k drivers.MessageKind, op drivers.Op, path string) string { return fmt.Sprint(k, op, path) }

type seen struct{ *record }

func (s seen) Session(time.Time, traffic.Session) {}
func (s seen) Message(_ time.Time, m drivers.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m.Err == nil {
		s.messages = append(s.messages, text(m.Kind, m.Op, string(m.Path)))
	}
}
func (seen) Gap(time.Time, int64, traffic.Cause) {}
func (seen) Members(time.Time, []string)         {}
func (seen) Lease(time.Time, int64)              {}
func (seen) Owner(traffic.Process)               {}
func (seen) Close(time.Time)                     {}

// awaitState waits for a state.
func awaitState(t *testing.T, states chan drivers.State, want drivers.State) {
	t.Helper()
	for await.Value(t, fmt.Sprintf("the session becomes %v", want), states) != want {
	}
}

func exists(t *testing.T, c drivers.Conn, path string) bool {
	t.Helper()
	_, found, err := c.Exists(t.Context(), path, nil)
	must(t, err)
	return found
}

// wire returns the path of a node as requests have it.
func (s *stage) wire(path string) string {
	if s.scheme == "etcd" {
		return "/stampede/1" + path
	}
	return path
}

// notified returns how many notifications of a node were seen.
func (r *record) notified(path string) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range r.messages {
		for op := range drivers.OpFlush + 1 {
			if m == text(drivers.Notification, op, path) {
				n++
			}
		}
	}
	return n
}

// earliest returns the server of the first connection.
func (r *record) earliest() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.opened[0]
}

// latest returns the server of the latest connection.
func (r *record) latest() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.opened[len(r.opened)-1]
}

// TestTargets names clients by their order, their process and their ephemeral nodes.
func TestTargets(t *testing.T) {
	testenv.SkipIfShort(t)
	s := newStage(t, "native", backendtest.Native(t, server.Options{}))
	var conns []drivers.Conn
	for i := range 3 {
		c, _ := s.client(t)
		_, err := c.Create(t.Context(), fmt.Sprint("/node", i), nil, drivers.Ephemeral)
		must(t, err)
		conns = append(conns, c)
	}
	await.True(t, "the process was not found", func() bool { return len(s.Named(true, fmt.Sprint(os.Getpid()))) == 3 })
	if len(s.Named(true, "no-such")) != 0 {
		t.Error("a process that is none has clients")
	}
	for target, hit := range map[string][]int{"client=2": {1}, "node=/node2": {2}, "clients=all": {0, 1, 2}, fmt.Sprint("process=", os.Getpid()): {0, 1, 2}} {
		done := s.do(t, "delay "+target+" by=1ms for=1ms")
		var got []int
		for i, c := range s.Clients() {
			if slices.Contains(done[0].Clients, c) {
				got = append(got, i)
			}
		}
		if !slices.Equal(got, hit) {
			t.Errorf("%s hits %v, want %v", target, got, hit)
		}
	}
	must(t, conns[0].Close())
	await.True(t, "a session that was closed is still a client", func() bool { return len(s.Clients()) == 2 })
	late, _ := s.client(t)
	_, err := late.Create(t.Context(), "/node3", nil, drivers.Ephemeral)
	must(t, err)
	must(t, s.Named(false, "/node1")[0].(*targets.Client).Expire(t.Context()))
	for number, path := range map[int]string{1: "", 2: "", 3: "/node2", 4: "/node3"} { // the first two are gone
		var want []faults.Client
		what := fmt.Sprintf("cut client %d, which is gone", number)
		if path != "" {
			want, what = s.Named(false, path), fmt.Sprint("cut client ", number)
		}
		if done := s.do(t, fmt.Sprint("cut client=", number)); !slices.Equal(done[0].Clients, want) || done[0].What != what {
			t.Errorf("client=%d: %q hits %d clients, want %q and %d", number, done[0].What, len(done[0].Clients), what, len(want))
		}
	}
}

// TestKeyWithALease finds the client that has put a key with a lease, and none by a key that it has failed to create.
func TestKeyWithALease(t *testing.T) {
	s := newStage(t, "etcd", backendtest.SharedEtcd(t))
	c, err := clientv3.New(clientv3.Config{Endpoints: s.proxy.Addresses(), Logger: zap.NewNop()})
	must(t, err)
	t.Cleanup(func() { c.Close() })
	lease, err := c.Grant(t.Context(), 10)
	must(t, err)
	mine, others := s.path(t, "mine"), s.path(t, "others")
	_, err = s.direct.Create(t.Context(), others, nil, 0)
	must(t, err)
	key := s.wire(others)
	_, err = c.Put(t.Context(), mine, "", clientv3.WithLease(lease.ID))
	must(t, err)
	failed, err := c.Txn(t.Context()).If(clientv3.Compare(clientv3.CreateRevision(key), "=", 0)).Then(clientv3.OpPut(key, "", clientv3.WithLease(lease.ID))).Commit()
	if must(t, err); failed.Succeeded {
		t.Fatal("the key was there")
	}
	if n := len(s.Named(false, mine)); n != 1 {
		t.Errorf("%d clients have the key, want 1", n)
	}
	if n := len(s.Named(false, key)); n != 0 {
		t.Errorf("%d clients have the key of another, want 0", n)
	}
}

// TestNoTarget says that there was none.
func TestNoTarget(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a client for 15 s")
	}
	s := newStage(t, "native", backendtest.Native(t, server.Options{}))
	f, err := faults.Parse("at=0s cut client=1")
	must(t, err)
	err = faults.Schedule{f}.Do(t.Context(), faults.Subjects{Program: s}, func(faults.Done) {})
	if err == nil || err.Error() != `fault "at=0s cut client=1": there was no client=1 for 15s` {
		t.Errorf("got %v", err)
	}
}

// TestRewrite changes a node so that watches fire, and leaves its data and its lease as they were.
func TestRewrite(t *testing.T) {
	each(t, func(t *testing.T, s *stage) {
		node := s.path(t, "rewrite")
		c, _ := s.client(t)
		_, err := c.Create(t.Context(), node, []byte("data"), drivers.Ephemeral)
		must(t, err)
		_, before, err := s.direct.Get(t.Context(), node, nil)
		must(t, err)
		must(t, s.service.Read(t.Context(), s.wire(node)))
		pos, err := s.service.Rewrite(t.Context(), s.wire(node))
		must(t, err)
		data, stat, err := s.direct.Get(t.Context(), node, nil)
		must(t, err)
		if string(data) != "data" || stat.Version != before.Version+1 || pos <= 0 {
			t.Errorf("at position %d: %q of version %d, want %q of version %d", pos, data, stat.Version, "data", before.Version+1)
		}
		must(t, c.Close())
		if exists(t, s.direct, node) {
			t.Error("the node does not end with its session any more")
		}
		if err := s.service.Read(t.Context(), s.wire(node)); !errors.Is(err, drivers.ErrNoNode) {
			t.Errorf("a read of a node that is gone: %v", err)
		}
		if _, err := s.service.Rewrite(t.Context(), s.wire(node)); !errors.Is(err, drivers.ErrNoNode) {
			t.Errorf("a change of a node that is gone: %v", err)
		}
	})
}

// TestBar keeps a client away until as many bars are lifted as were set.
func TestBar(t *testing.T) {
	s := newStage(t, "native", backendtest.Native(t, server.Options{}))
	c, states := s.client(t)
	s.Bar()
	s.Bar()
	before := s.seen.connections()
	s.do(t, "cut clients=all")
	awaitState(t, states, drivers.Disconnected)
	s.Admit()
	await.True(t, "it does not try", func() bool { return s.seen.connections() > before })
	select {
	case state := <-states:
		t.Errorf("it became %v", state)
	default:
	}
	s.Admit()
	awaitState(t, states, drivers.Connected)
	_, _, err := c.Exists(t.Context(), "/", nil)
	must(t, err)
}
