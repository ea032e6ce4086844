package backendtest

import (
	"crypto/tls"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/drivers/ensemble"
)

// A Secure is a server that speaks only TLS, to clients that have a certificate of its authority.
type Secure struct {
	Address string
	// Security has the authority and a client's certificate.
	Security drivers.Security
	// Stranger has the same of another authority.
	Stranger drivers.Security
}

// secureConfig configures a standalone server. TLS requires Netty.
const secureConfig = `dataDir=%[1]s
secureClientPortAddress=127.0.0.1
secureClientPort=%[2]s
tickTime=500
maxClientCnxns=0
admin.enableServer=false
4lw.commands.whitelist=*
serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory
ssl.keyStore.type=PEM
ssl.keyStore.location=%[1]s/server.pem
ssl.trustStore.type=PEM
ssl.trustStore.location=%[1]s/ca.pem
`

// SecureZooKeeper starts an Apache ZooKeeper for a test, with certificates made for it. If
// ZooKeeper is not installed, the test is skipped, or fails: see [Lacking].
func SecureZooKeeper(t testing.TB) Secure {
	t.Helper()
	dir := t.TempDir()
	s := Secure{Address: freeAddress(t), Security: Authority(t, dir), Stranger: Authority(t, t.TempDir())}
	_, port, _ := net.SplitHostPort(s.Address)
	server := launch(t, dir, fmt.Sprintf(secureConfig, dir, port))
	cfg, err := s.Security.TLSConfig()
	if err != nil {
		t.Fatal(err)
	}
	server.await(t, ensemble.Config{Servers: []string{s.Address}, TLS: cfg})
	return s
}

// Protect makes a node that only a user of the digest scheme may access. A node made by the driver
// would be open to the client's certificate as well.
func (s Secure) Protect(t testing.TB, path, user, password string) {
	t.Helper()
	cfg, err := s.Security.TLSConfig()
	if err != nil {
		t.Fatal(err)
	}
	dial := func(network, address string, _ time.Duration) (net.Conn, error) {
		return tls.Dial(network, address, cfg)
	}
	c, _, err := zk.Connect([]string{s.Address}, drivers.DefaultSessionTimeout, zk.WithDialer(dial), zk.WithLogInfo(false))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Create(path, nil, 0, zk.DigestACL(zk.PermAll, user, password)); err != nil {
		t.Fatalf("create %s: %v", path, err)
	}
}

func freeAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// Open opens the service at a URL with the security, for this test alone.
func Open(t testing.TB, url string, s drivers.Security) drivers.Service {
	t.Helper()
	target, err := backends.Parse(url)
	if err == nil {
		target, err = target.With(backends.Options{Security: s})
	}
	if err != nil {
		t.Fatal(err)
	}
	service, err := target.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { service.Close() })
	return service
}
