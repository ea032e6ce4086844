package backendtest

import (
	"context"
	"net"
	"path/filepath"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/ensemble"
	"github.com/stampede-bench/stampede/drivers/server"
	"github.com/stampede-bench/stampede/drivers/server/certificates"
	"github.com/stampede-bench/stampede/drivers/zookeeper"
)

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
