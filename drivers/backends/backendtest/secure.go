package backendtest

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/drivers/cluster"
	"github.com/stampede-bench/stampede/drivers/cluster/clustertest"
	"github.com/stampede-bench/stampede/drivers/ensemble"
	"github.com/stampede-bench/stampede/drivers/etcd"
	"github.com/stampede-bench/stampede/internal/testenv"
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
	s := Secure{Address: testenv.Address(t), Security: Authority(t, dir), Stranger: Authority(t, t.TempDir())}
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

// Open opens the service at a URL with the security, for this test alone.
func Open(t testing.TB, url string, s drivers.Security) drivers.Service {
	t.Helper()
	target, err := backends.Parse(url)
	if err == nil {
		target, err = target.WithOptions(backends.Options{Security: s})
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

// SecureEtcd starts an etcd for a test that speaks only TLS, to clients that have a certificate of
// its authority. It accepts the calls of all of them, whatever their user, until
// [Secure.ProtectKeys]. Its JSON gateway works.
func SecureEtcd(t testing.TB) Secure {
	t.Helper()
	dir := t.TempDir()
	s := Secure{Security: Authority(t, dir), Stranger: Authority(t, t.TempDir())}
	encryption, err := s.Security.TLSConfig()
	if err != nil {
		t.Fatal(err)
	}
	read := func(path string) []byte {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	ctx, cancel := context.WithTimeout(t.Context(), startTime)
	defer cancel()
	clustertest.Use()
	kind := etcd.Kind()
	kind.Serves = etcd.ServesOver(encryption)
	e, err := cluster.Start(ctx, kind, cluster.Plan{
		Servers: 1, Durability: etcd.NoFsync,
		Certificate: read(filepath.Join(dir, "member.pem")), // which its gateway shows the member itself
		Authority:   read(s.Security.CA),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	s.Address = e.Addresses()[0]
	return s
}

// ProtectKeys enables etcd's users: from then on this user may access only the keys below prefix,
// and root may access all keys.
func (s Secure) ProtectKeys(t testing.TB, prefix, user, password string) {
	t.Helper()
	cfg, err := s.Security.TLSConfig()
	if err != nil {
		t.Fatal(err)
	}
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{"https://" + s.Address}, TLS: cfg, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(t.Context(), startTime)
	defer cancel()
	do := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	_, err = c.UserAdd(ctx, "root", "toor")
	do("add root", err)
	_, err = c.UserGrantRole(ctx, "root", "root")
	do("make root what it is", err)
	_, err = c.RoleAdd(ctx, "bench")
	do("add a role", err)
	below := prefix + "/"
	_, err = c.RoleGrantPermission(ctx, "bench", below, clientv3.GetPrefixRangeEnd(below), clientv3.PermissionType(clientv3.PermReadWrite))
	do("grant the keys", err)
	_, err = c.UserAdd(ctx, user, password)
	do("add the user", err)
	_, err = c.UserGrantRole(ctx, user, "bench")
	do("grant the role", err)
	_, err = c.AuthEnable(ctx)
	do("turn users on", err)
}

// SharedEtcd returns the address of the etcd member that the packages of this test run share, or of one that the tests
// of this package share. Its JSON gateway works.
func SharedEtcd(t testing.TB) (address string) {
	t.Helper()
	at, err := backends.Address(Shared(t, "etcd:"))
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	return u.Host
}

// Authority makes a certificate authority in dir (ca.pem), a server's
// certificate for 127.0.0.1 (server.pem), a client's (client.pem) and that of a member of an ensemble
// at 127.0.0.1 (member.pem), which is both to the other members. It returns what the client needs.
func Authority(t testing.TB, dir string) drivers.Security {
	t.Helper()
	ca := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	key := issue(t, filepath.Join(dir, "ca"), ca, ca, nil)
	issue(t, filepath.Join(dir, "server"), &x509.Certificate{SerialNumber: big.NewInt(2),
		Subject: pkix.Name{CommonName: "test server"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}, ca, key)
	issue(t, filepath.Join(dir, "client"), &x509.Certificate{SerialNumber: big.NewInt(3),
		Subject: pkix.Name{CommonName: "test client"}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}, ca, key)
	issue(t, filepath.Join(dir, "member"), &x509.Certificate{SerialNumber: big.NewInt(4),
		Subject: pkix.Name{CommonName: "test member"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}, ca, key)
	client := filepath.Join(dir, "client.pem")
	return drivers.Security{CA: filepath.Join(dir, "ca.pem"), Cert: client, Key: client}
}

// issue writes a certificate with its new key to name.pem, because ZooKeeper wants both in one
// file. The signer signs it. Without a signer it is self-signed; then the file is for those that
// trust it and does not have the key.
func issue(t testing.TB, name string, c, issuer *x509.Certificate, signer *ecdsa.PrivateKey) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	own := signer == nil
	if own {
		signer = key
	}
	c.NotBefore, c.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	der, err := x509.CreateCertificate(rand.Reader, c, issuer, key.Public(), signer)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	if !own {
		text = slices.Concat(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), text)
	}
	if err := os.WriteFile(name+".pem", text, 0o600); err != nil {
		t.Fatal(err)
	}
	return key
}
