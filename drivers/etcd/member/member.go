package member

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/client/pkg/v3/transport"
	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/etcdserver"
	"go.uber.org/zap"

	"github.com/stampede-bench/stampede/drivers/cluster"
	"github.com/stampede-bench/stampede/drivers/etcd"
)

// Run runs the member at place p, in this process, until the context ends. It announces
// the id of this process before it starts the member; [etcd.Serves] reports when the member serves.
func Run(ctx context.Context, p cluster.Place, announce func(pid string)) error {
	return run(ctx, p, announce, compact)
}

// RunUncompacted is Run for a member that keeps its history.
func RunUncompacted(ctx context.Context, p cluster.Place, announce func(pid string)) error {
	return run(ctx, p, announce, func(context.Context, *etcdserver.EtcdServer) {})
}

func run(ctx context.Context, p cluster.Place, announce func(pid string), tend func(context.Context, *etcdserver.EtcdServer)) error {
	if p.Durability != etcd.Fsync && p.Durability != etcd.NoFsync {
		return fmt.Errorf("durability %q: want %s or %s", p.Durability, etcd.Fsync, etcd.NoFsync)
	}
	if p.Proxy != "" {
		if err := callThrough(p.Proxy); err != nil {
			return err
		}
	}
	announce(strconv.Itoa(os.Getpid()))
	member, err := embed.StartEtcd(memberConfig(p))
	if err != nil {
		return fmt.Errorf("start etcd: %w", err)
	}
	go tend(ctx, member.Server)
	select {
	case <-ctx.Done():
		// The member is not closed: that takes long if the other members end as well, or are
		// stopped, and its data on disk is no longer needed.
		return nil
	case err := <-member.Err():
		return fmt.Errorf("etcd ended: %w", err)
	case <-member.Server.StopNotify():
		return errors.New("etcd ended by itself")
	}
}

const (
	// A lease lives for at least one and a half election timeouts: these values allow sessions
	// of one second.
	heartbeat = 100 * time.Millisecond
	election  = 500 * time.Millisecond
	// quota is the size of the member's data above which it accepts no more writes.
	quota = 8 << 30
)

func memberConfig(p cluster.Place) *embed.Config {
	at := func(address string) []url.URL { return []url.URL{{Scheme: "http", Host: address}} }
	clients := at(p.Own().Clients)
	c := embed.NewConfig()
	if p.Certificate != "" {
		clients[0].Scheme = "https"
		c.ClientTLSInfo = transport.TLSInfo{
			CertFile: p.Certificate, KeyFile: p.Certificate, TrustedCAFile: p.Authority, ClientCertAuth: p.Authority != "",
		}
	}
	c.Name, c.Dir = etcd.MemberName(p, p.Number), p.Dir
	c.ListenClientUrls, c.AdvertiseClientUrls = clients, clients
	c.ListenPeerUrls, c.AdvertisePeerUrls = at(p.Own().Peers), at(peerAddress(p, p.Number))
	var all []string
	for i := range p.Members {
		all = append(all, etcd.MemberName(p, i+1)+"=http://"+peerAddress(p, i+1))
	}
	c.InitialCluster = strings.Join(all, ",")
	c.TickMs, c.ElectionMs = uint(heartbeat.Milliseconds()), uint(election.Milliseconds())
	c.QuotaBackendBytes = quota
	c.UnsafeNoFsync = p.Durability == etcd.NoFsync
	c.BcryptCost = 4 // the least: users have random passwords, or those of a test
	c.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop())
	return c
}

// callThrough routes every connection of this process to other members through a proxy. The
// library has no other setting for this.
func callThrough(proxy string) error {
	return errors.Join(os.Setenv("HTTP_PROXY", "socks5://"+proxy), os.Unsetenv("NO_PROXY"), os.Unsetenv("no_proxy"))
}

// peerAddress returns the address at which other members call a member. Behind a proxy it is a
// name that resolves nowhere else, since Go connects to this machine directly, whatever the
// proxy settings are.
func peerAddress(p cluster.Place, number int) string {
	address := p.Members[number-1].Peers
	if p.Proxy == "" {
		return address
	}
	return fmt.Sprintf("member-%d.invalid%s", number, address[strings.LastIndexByte(address, ':'):])
}

// A member keeps what was overwritten or deleted for at least the time history, and for at
// least as many revisions as changes says.
//
// A listing also looks at the names of deleted children until they are compacted, and the
// names of waiting clients are never reused: much history makes each hand-off slow. A watch
// from a past revision, as libraries create them, waits 100 ms to be served, and where clients
// write rarely that revision may be old.
const (
	history = 500 * time.Millisecond
	changes = 500
)

// compact compacts old revisions until the context ends, while this member is the leader. A
// compaction that one member requests takes place on all.
func compact(ctx context.Context, s *etcdserver.EtcdServer) {
	tick := time.NewTicker(history)
	defer tick.Stop()
	var before, compacted int64 // revisions
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		if s.Leader() != s.MemberID() {
			continue
		}
		now := s.KV().Rev()
		old := min(before, now-changes)
		before = now
		if old <= compacted {
			continue
		}
		if _, err := s.Compact(ctx, &pb.CompactionRequest{Revision: old}); err == nil {
			compacted = old
		}
	}
}
