package control

import (
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
)

// An EtcdMember is an etcd member in this process, for one run.
type EtcdMember struct {
	etcd    *embed.Etcd
	dir     string
	lock    *os.File // in dir; locked while this process uses it
	address string
	token   Token
}

// user is the name of the etcd user of all processes of a run.
const user = "root"

// startTime bounds the start of a member.
const startTime = 30 * time.Second

// Start runs a member that listens on the address, host:port. Port 0 chooses a free one. Only
// processes that have its token can use it, over TLS.
func Start(ctx context.Context, listen string) (_ *EtcdMember, err error) {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return nil, fmt.Errorf("listen on %q: want host:port", listen)
	}
	m := &EtcdMember{}
	defer func() {
		if err != nil {
			m.Close()
		}
	}()
	if m.dir, m.lock, err = newDir(); err != nil {
		return nil, fmt.Errorf("start the control plane: %w", err)
	}
	cfg := m.config(listen)
	if m.etcd, err = embed.StartEtcd(cfg); err != nil {
		return nil, fmt.Errorf("start the control plane on %s: %w", listen, err)
	}
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	select {
	case <-m.etcd.Server.ReadyNotify():
	case err := <-m.etcd.Err():
		return nil, fmt.Errorf("start the control plane on %s: %w", listen, err)
	case <-ctx.Done():
		return nil, fmt.Errorf("start the control plane on %s: %w", listen, context.Cause(ctx))
	}
	_, port, _ := net.SplitHostPort(m.etcd.Clients[0].Addr().String()) // a TCP address has a port
	m.address = net.JoinHostPort(host, port)
	return m, m.protect(ctx, filepath.Join(m.dir, "fixtures", "client", "cert.pem"))
}

// config returns the configuration. Agents hand in their results at the end of a run, in one piece.
func (m *EtcdMember) config(listen string) *embed.Config {
	local := url.URL{Scheme: "http", Host: "127.0.0.1:0"} // no other member connects
	clients := url.URL{Scheme: "https", Host: listen}
	c := embed.NewConfig()
	c.Name, c.Dir = "stampede-control", m.dir
	c.ListenClientUrls, c.AdvertiseClientUrls = []url.URL{clients}, []url.URL{clients}
	c.ListenPeerUrls, c.AdvertisePeerUrls = []url.URL{local}, []url.URL{local}
	c.InitialCluster = c.InitialClusterFromName(c.Name)
	c.ClientAutoTLS = true
	c.TickMs, c.ElectionMs = 100, 500 // so that a lease can be as short as an agent's
	c.QuotaBackendBytes = quota
	c.UnsafeNoFsync = true // what it keeps has no value after the run
	c.BcryptCost = 4       // the password is random
	c.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop())
	return c
}

// quota is the size of the member's data above which it accepts no more writes.
const quota = 8 << 30

// protect makes the token and refuses everyone without it.
func (m *EtcdMember) protect(ctx context.Context, certificate string) error {
	text, err := os.ReadFile(certificate)
	if err != nil {
		return err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return fmt.Errorf("%s: no PEM certificate in it", certificate)
	}
	m.token = newToken(block.Bytes)
	s := m.etcd.Server
	_, err = s.UserAdd(ctx, &pb.AuthUserAddRequest{Name: user, Password: m.token.secret(), Options: nil})
	if err == nil {
		_, err = s.RoleAdd(ctx, &pb.AuthRoleAddRequest{Name: user})
	}
	if err == nil {
		_, err = s.UserGrantRole(ctx, &pb.AuthUserGrantRoleRequest{User: user, Role: user})
	}
	if err == nil {
		_, err = s.AuthEnable(ctx, &pb.AuthEnableRequest{})
	}
	return err
}

// URL returns the address by which agents join.
func (m *EtcdMember) URL() string { return "etcd://" + m.address + "/stampede" }

// Token returns what agents need besides the URL.
func (m *EtcdMember) Token() Token { return m.token }

// Close ends the member and removes its data.
func (m *EtcdMember) Close() error {
	if m.etcd != nil {
		m.etcd.Server.HardStop()
		m.etcd.Close()
	}
	if m.dir == "" {
		return nil
	}
	return errors.Join(os.RemoveAll(m.dir), m.lock.Close())
}
