package backendtest

import (
	"context"
	"path/filepath"
	"testing"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	clientv3 "go.etcd.io/etcd/client/v3"
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
