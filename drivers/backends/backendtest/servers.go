package backendtest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/drivers/ensemble"
	"github.com/stampede-bench/stampede/drivers/server"
	"github.com/stampede-bench/stampede/drivers/server/certificates"
	"github.com/stampede-bench/stampede/drivers/zookeeper"
	"github.com/stampede-bench/stampede/internal/testenv"
)

// shared has the servers of this test binary: one process of each kind beside it.
var shared servers

// startTime is how long a server may take to start. Even a JVM on a busy machine is faster: only a
// defect takes that long.
const startTime = 10 * time.Minute

// servers has the services that were opened. The zero value has none.
type servers struct {
	mu     sync.Mutex
	opened map[wanted]opening
}

// A wanted service is identified by what a test asked for.
type wanted struct {
	url       string
	divisible bool
}

// An opening is the result of opening a service, which is done once.
type opening struct {
	service drivers.Service
	err     error
}

func (s *servers) open(url string, with backends.Options) (drivers.Service, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := wanted{url, with.Divisible}
	o, done := s.opened[w]
	if !done {
		o.service, o.err = start(url, with)
		if s.opened == nil {
			s.opened = map[wanted]opening{}
		}
		s.opened[w] = o
	}
	return o.service, o.err
}

// start does not use a test's context: the service outlives the first test that uses it.
func start(url string, with backends.Options) (drivers.Service, error) {
	target, err := backends.Parse(url)
	if err == nil {
		target, err = target.WithOptions(with)
	}
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), startTime)
	defer cancel()
	return target.Open(ctx)
}

func (s *servers) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, o := range s.opened {
		if o.err == nil {
			errs = append(errs, o.service.Close())
		}
	}
	return errors.Join(errs...)
}

// InMemory returns the configuration of a client that reaches a native server in this process, over
// connections in memory. Only this test uses the server, which ends with it.
func InMemory(t testing.TB) ensemble.Config {
	t.Helper()
	server := server.New(server.Options{})
	t.Cleanup(server.Close)
	return ensemble.Config{
		Servers: []string{"in-memory"},
		Dial:    func(context.Context, string) (net.Conn, error) { return server.Dial("", "", 0) },
	}
}

// InChroot is like [InMemory], for sessions below one node.
func InChroot(t testing.TB) ensemble.Config {
	t.Helper()
	cfg := InMemory(t)
	service, err := zookeeper.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	c, err := service.Dial(t.Context(), drivers.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	cfg.Chroot = "/chroot"
	if _, err := c.Create(t.Context(), cfg.Chroot, nil, 0); err != nil {
		t.Fatal(err)
	}
	return cfg
}

// Native runs a native server on the loopback interface, in this process and for one test, and
// returns its address.
func Native(t testing.TB, o server.Options) (address string) {
	t.Helper()
	return serve(t, o, (*server.Server).Serve)
}

func serve(t testing.TB, o server.Options, on func(*server.Server, net.Listener) error) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := server.New(o)
	served := make(chan error, 1)
	go func() { served <- on(server, l) }()
	t.Cleanup(func() {
		server.Close()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

// SecureNative is like [Native] over TLS, for clients that have a certificate of its authority.
func SecureNative(t testing.TB, o server.Options) Secure {
	t.Helper()
	dir := t.TempDir()
	s := Secure{Security: Authority(t, dir), Stranger: Authority(t, t.TempDir())}
	both := filepath.Join(dir, "server.pem")
	cfg, err := certificates.Files{Cert: both, Key: both, ClientCA: s.Security.CA}.Config()
	if err != nil {
		t.Fatal(err)
	}
	s.Address = serve(t, o, func(server *server.Server, l net.Listener) error { return server.ServeTLS(l, cfg) })
	return s
}

// plainConfig configures a standalone server.
const plainConfig = `dataDir=%s
clientPortAddress=127.0.0.1
clientPort=%s
tickTime=500
maxClientCnxns=0
admin.enableServer=false
4lw.commands.whitelist=*
`

// ZooKeeper starts an Apache ZooKeeper for one test, with additional lines for its zoo.cfg, and
// returns its address. If ZooKeeper is not installed, the test is skipped, or fails: see [Lacking].
func ZooKeeper(t testing.TB, lines string) (address string) {
	t.Helper()
	address = testenv.Address(t)
	dir := t.TempDir()
	_, port, _ := net.SplitHostPort(address)
	server := launch(t, dir, fmt.Sprintf(plainConfig, dir, port)+lines)
	server.await(t, ensemble.Config{Servers: []string{address}})
	return address
}

// SharedZooKeeper returns the address of the Apache ZooKeeper that the packages of this test run
// share, or of one for this test if they share none.
func SharedZooKeeper(t testing.TB) (address string) {
	t.Helper()
	if address, ok := testenv.Server(testenv.ZooKeeper); ok {
		return address
	}
	return ZooKeeper(t, "")
}

// A launched server is starting.
type launched struct {
	ctx context.Context // ends with the server, or when the start takes too long
	log string
}

// launch starts a server in dir. The server ends with the test.
func launch(t testing.TB, dir, config string) launched {
	t.Helper()
	from, err := zookeeper.FindInstallation()
	if errors.Is(err, zookeeper.ErrNotInstalled) {
		Lacking(t, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "zoo.cfg"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	running, stop := context.WithCancel(context.Background())
	ctx, cancel := context.WithTimeout(running, startTime)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer cancel()
		runtime.LockOSThread() // the server ends with the thread that started it
		from.Command(running, dir, log).Run()
	}()
	t.Cleanup(func() {
		stop()
		<-ended
		log.Close()
	})
	return launched{ctx, log.Name()}
}

// await waits until the server accepts sessions.
func (l launched) await(t testing.TB, c ensemble.Config) {
	t.Helper()
	e, err := ensemble.New(c)
	if err != nil {
		t.Fatal(err)
	}
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for !serves(l.ctx, e) {
		select {
		case <-again.C:
		case <-l.ctx.Done():
			l.giveUp(t, context.Cause(l.ctx))
		}
	}
}

// serves asks the server with a short time-out: a server that is about to start never answers some
// of the requests that arrive just then.
func serves(ctx context.Context, e *ensemble.Ensemble) bool {
	ctx, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
	defer cancel()
	answer, err := e.Word(ctx, e.Servers[0], "srvr")
	return err == nil && strings.Contains(answer, "Mode: ")
}

func (l launched) giveUp(t testing.TB, err error) {
	t.Helper()
	said, _ := os.ReadFile(l.log)
	t.Fatalf("%v; the server: %s", err, said)
}
