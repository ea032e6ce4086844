package backendtest

import (
	"context"
	"net/url"
	"path/filepath"
	"testing"

	"github.com/stampede-bench/stampede/internal/testenv"
	"go.etcd.io/etcd/client/pkg/v3/transport"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
)

// SecureEtcd starts an etcd for a test that speaks only TLS, to clients that have a certificate of
// its authority. It accepts the calls of all of them, whatever their user, until
// [Secure.ProtectKeys].
func SecureEtcd(t testing.TB) Secure {
	t.Helper()
	dir := t.TempDir()
	s := Secure{Security: Authority(t, dir), Stranger: Authority(t, t.TempDir())}
	server := filepath.Join(dir, "server.pem")
	s.Address = startEtcd(t, dir, transport.TLSInfo{
		CertFile: server, KeyFile: server, TrustedCAFile: s.Security.CA, ClientCertAuth: true,
	})
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

// SharedEtcd returns the address of the etcd member that the packages of this test run share, or of
// one in this process and for this test if they share none.
func SharedEtcd(t testing.TB) (address string) {
	t.Helper()
	if address, ok := testenv.Server(testenv.Etcd); ok {
		return address
	}
	return startEtcd(t, t.TempDir(), transport.TLSInfo{})
}

// startEtcd starts a member in this process, with its data in dir, and returns its address.
func startEtcd(t testing.TB, dir string, security transport.TLSInfo) (address string) {
	t.Helper()
	c := embed.NewConfig()
	c.Dir = filepath.Join(dir, "data")
	scheme := "http"
	if !security.Empty() {
		scheme = "https"
	}
	peers, clients := []url.URL{{Scheme: "http", Host: "127.0.0.1:0"}}, []url.URL{{Scheme: scheme, Host: "127.0.0.1:0"}}
	c.ListenPeerUrls, c.AdvertisePeerUrls = peers, peers
	c.ListenClientUrls, c.AdvertiseClientUrls = clients, clients
	c.InitialCluster = c.InitialClusterFromName(c.Name)
	c.ClientTLSInfo = security
	c.UnsafeNoFsync = true
	c.TickMs, c.ElectionMs = 100, 500 // for short leases
	c.BcryptCost = 4                  // the minimum: with etcd's own cost a session takes seconds under the race detector
	c.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop())
	member, err := embed.StartEtcd(c)
	if err != nil {
		t.Fatalf("start etcd: %v", err)
	}
	t.Cleanup(member.Close)
	<-member.Server.ReadyNotify()
	return member.Clients[0].Addr().String()
}
