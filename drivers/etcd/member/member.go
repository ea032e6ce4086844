package member

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/etcdserver"
	"go.uber.org/zap"

	"github.com/stampede-bench/stampede/drivers/cluster"
)

// How far a member persists a write before it answers.
const (
	Fsync = "fsync" // on disk: etcd's default
	// NoFsync leaves that to the operating system: an acknowledged write survives the end of
	// the process, but not a crash of the machine.
	NoFsync = "no-fsync"
)

// Run runs the member at place p, in this process, until the context ends. It announces
// the id of this process before it starts the member; [Serves] reports when the member serves.
func Run(ctx context.Context, p cluster.Place, announce func(pid string)) error {
	if p.Durability != Fsync && p.Durability != NoFsync {
		return fmt.Errorf("durability %q: want %s or %s", p.Durability, Fsync, NoFsync)
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
	go compact(ctx, member.Server)
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
	c := embed.NewConfig()
	c.Name, c.Dir = memberName(p, p.Number), p.Dir
	c.ListenClientUrls, c.AdvertiseClientUrls = at(p.Own().Clients), at(p.Own().Clients)
	c.ListenPeerUrls, c.AdvertisePeerUrls = at(p.Own().Peers), at(peerAddress(p, p.Number))
	var all []string
	for i := range p.Members {
		all = append(all, memberName(p, i+1)+"=http://"+peerAddress(p, i+1))
	}
	c.InitialCluster = strings.Join(all, ",")
	c.TickMs, c.ElectionMs = uint(heartbeat.Milliseconds()), uint(election.Milliseconds())
	c.QuotaBackendBytes = quota
	c.UnsafeNoFsync = p.Durability == NoFsync
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

// memberName returns a name that no member of another cluster on this machine has: it contains
// the name of the cluster's directory.
func memberName(p cluster.Place, number int) string {
	return filepath.Base(filepath.Dir(p.Dir)) + "-" + strconv.Itoa(number)
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

// Serves returns when a member that [Run] runs accepts sessions, which requires that its
// cluster has a leader. The member must have the expected name, which another server on the
// same port would not have.
func Serves(ctx context.Context, p cluster.Place) error {
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for !answers(ctx, p.Own().Clients, memberName(p, p.Number)) {
		select {
		case <-again.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// answerTime is how long a member has to answer before it is asked again.
const answerTime = time.Second

// answers reports whether the member with this name answers a linearizable request for the
// members, which it can do only in contact with the leader. It checks first that the member
// accepts connections, since the library would wait for as long as it does not.
func answers(ctx context.Context, address, name string) bool {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return false
	}
	conn.Close()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{"http://" + address}, DialTimeout: answerTime, Logger: zap.NewNop()})
	if err != nil {
		return false
	}
	defer client.Close()
	answer, err := client.MemberList(ctx)
	return err == nil && slices.ContainsFunc(answer.Members, func(m *pb.Member) bool {
		return m.ID == answer.Header.MemberId && m.Name == name
	})
}
