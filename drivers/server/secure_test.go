package server_test

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/server"
	"github.com/stampede-bench/stampede/drivers/server/certificates"
)

// A secured server accepts TLS connections at one address and plain ones at another.
type secured struct {
	t             *testing.T
	dir           string
	secure, plain string
	client        drivers.Security
	failed        chan error // errors of reloading changed files
}

// startSecured starts a server that requires client certificates and TLS 1.3, unless the change
// sets otherwise.
func startSecured(t *testing.T, change func(*certificates.Files)) *secured {
	s := &secured{t: t, dir: t.TempDir(), failed: make(chan error, 100)}
	s.client = backendtest.Authority(t, s.dir)
	both := filepath.Join(s.dir, "server.pem")
	files := certificates.Files{Cert: both, Key: both, ClientCA: filepath.Join(s.dir, "ca.pem"), MinVersion: tls.VersionTLS13,
		Failed: func(err error) { s.failed <- err }}
	if change != nil {
		change(&files)
	}
	cfg, err := files.Config()
	if err != nil {
		t.Fatal(err)
	}
	running := server.New(server.Options{})
	s.secure = s.listen(func(l net.Listener) error { return running.ServeTLS(l, cfg) })
	s.plain = s.listen(running.Serve)
	t.Cleanup(running.Close)
	return s
}

func (s *secured) listen(serve func(net.Listener) error) (address string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- serve(l) }()
	s.t.Cleanup(func() {
		l.Close()
		<-served
	})
	return l.Addr().String()
}

// dial opens a connection, sends "conf" and returns the connection and the answer.
func (s *secured) dial(who drivers.Security, change func(*tls.Config)) (conn *tls.Conn, answer string, err error) {
	s.t.Helper()
	cfg, err := who.TLSConfig()
	if err != nil {
		s.t.Fatal(err)
	}
	if change != nil {
		change(cfg)
	}
	if conn, err = tls.Dial("tcp", s.secure, cfg); err != nil {
		return nil, "", err
	}
	s.t.Cleanup(func() { conn.Close() })
	if _, err := conn.Write([]byte("conf")); err != nil {
		return nil, "", err
	}
	text, err := io.ReadAll(conn)
	return conn, string(text), err
}

func (s *secured) session(t *testing.T, address string, options ...connOption) *zk.Conn {
	c, _, err := zk.Connect([]string{address}, 10*time.Second, zk.WithLogger(quiet{}), all(options))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// TLS and plain sessions share one server, and only TLS sessions have the identity of a
// certificate.
func TestTLSBesidePlaintext(t *testing.T) {
	s := startSecured(t, nil)
	cfg, err := s.client.TLSConfig()
	if err != nil {
		t.Fatal(err)
	}
	secure := s.session(t, s.secure, zk.WithDialer(func(network, address string, _ time.Duration) (net.Conn, error) {
		return tls.Dial(network, address, cfg)
	}))
	plain := s.session(t, s.plain)
	mine := []zk.ACL{{Perms: zk.PermAll, Scheme: "x509", ID: "CN=test client"}}
	if _, err := secure.Create("/mine", []byte("secret"), 0, mine); err != nil {
		t.Fatal(err)
	}
	if data, _, err := secure.Get("/mine"); string(data) != "secret" || err != nil {
		t.Errorf("over TLS: %q, %v", data, err)
	}
	if _, _, err := plain.Get("/mine"); !errors.Is(err, zk.ErrNoAuth) {
		t.Errorf("without TLS: %v, want %v", err, zk.ErrNoAuth)
	}
	if err := secure.AddAuth("x509", nil); err != nil {
		t.Errorf("a client that shows its certificate once more: %v", err)
	}
	if err := plain.AddAuth("x509", nil); !errors.Is(err, zk.ErrAuthFailed) {
		t.Errorf("x509 without a certificate: %v, want %v", err, zk.ErrAuthFailed)
	}
	_, port, _ := net.SplitHostPort(s.plain)
	_, securePort, _ := net.SplitHostPort(s.secure)
	want := "clientPort=" + port + "\nsecureClientPort=" + securePort + "\n"
	if _, conf, err := s.dial(s.client, nil); !strings.HasPrefix(conf, want) || err != nil {
		t.Errorf("conf: %.80q, %v; want %q", conf, err, want)
	}
}

// Clients that the server refuses, and those that do not use TLS, get no answer.
func TestTLSRefusesClients(t *testing.T) {
	s := startSecured(t, nil)
	stranger := backendtest.Authority(t, t.TempDir())
	stranger.CA = s.client.CA
	for name, who := range map[string]drivers.Security{
		"no certificate":                   {CA: s.client.CA},
		"certificate of another authority": stranger,
	} {
		if _, answer, err := s.dial(who, nil); err == nil {
			t.Errorf("%s: answered %.20q", name, answer)
		}
	}
	if _, answer, err := s.dial(s.client, func(c *tls.Config) { c.MaxVersion = tls.VersionTLS12 }); err == nil {
		t.Errorf("TLS 1.2: answered %.20q", answer)
	}
	c, err := net.Dial("tcp", s.secure)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Write([]byte("ruok\x00\x00\x00\x00")); err != nil {
		t.Fatal(err)
	}
	if answer, _ := io.ReadAll(c); strings.Contains(string(answer), "imok") {
		t.Errorf("without TLS: answered %q", answer)
	}
}

// Certificates replaced at run time take effect at the next handshake, including those of the
// client authority. Invalid files change nothing, and the server reports the error once.
func TestCertificatesAreReadAgain(t *testing.T) {
	s := startSecured(t, nil)
	old := s.client
	first := s.certificate(old)
	oldDir := t.TempDir()
	for _, name := range []string{"ca.pem", "client.pem"} {
		copyFile(t, filepath.Join(s.dir, name), filepath.Join(oldDir, name))
	}
	old = drivers.Security{CA: filepath.Join(oldDir, "ca.pem"), Cert: filepath.Join(oldDir, "client.pem"), Key: filepath.Join(oldDir, "client.pem")}

	if err := os.WriteFile(filepath.Join(s.dir, "server.pem"), []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got := s.certificate(old); got != first {
			t.Error("a file without a certificate took the old one away")
		}
	}
	if n := len(s.failed); n != 1 {
		t.Fatalf("%d reports of the broken file, want 1", n)
	}
	if err := <-s.failed; !strings.Contains(err.Error(), filepath.Join(s.dir, "server.pem")) {
		t.Errorf("%v: does not name the file", err)
	}

	s.client = backendtest.Authority(t, s.dir) // replaces all files
	if got := s.certificate(s.client); got == first {
		t.Error("the server still has the old certificate")
	}
	if _, _, err := s.dial(old, func(c *tls.Config) { c.InsecureSkipVerify = true }); err == nil {
		t.Error("a client of the old authority was let in")
	}
	if n := len(s.failed); n != 0 {
		t.Errorf("%d reports, want none", n)
	}
}

// certificate returns the certificate that the server presents.
func (s *secured) certificate(who drivers.Security) string {
	s.t.Helper()
	conn, _, err := s.dial(who, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(conn.ConnectionState().PeerCertificates[0].Raw)
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestCertificatesThatCannotBeUsed(t *testing.T) {
	dir := t.TempDir()
	backendtest.Authority(t, dir)
	pair, ca := filepath.Join(dir, "server.pem"), filepath.Join(dir, "ca.pem")
	empty := filepath.Join(dir, "empty.pem")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for want, files := range map[string]certificates.Files{
		"certificate " + ca + ", key " + pair + ": tls: private key does not match public key":               {Cert: ca, Key: pair},
		"certificate " + empty + ", key " + pair + ": tls: failed to find any PEM data in certificate input": {Cert: empty, Key: pair},
		"authorities of clients: " + empty + ": no PEM certificate in it":                                    {Cert: pair, Key: pair, ClientCA: empty},
		"authorities of clients: open " + filepath.Join(dir, "none") + ": no such file or directory":         {Cert: pair, Key: pair, ClientCA: filepath.Join(dir, "none")},
	} {
		if _, err := files.Config(); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}
