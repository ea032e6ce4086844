package backendtest

import (
	"net/url"
	"path/filepath"
	"testing"

	"github.com/stampede-bench/stampede/internal/testenv"
	"go.etcd.io/etcd/client/pkg/v3/transport"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
)

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
