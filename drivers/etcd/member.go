package etcd

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"

	"github.com/stampede-bench/stampede/drivers/local"
)

// What a member does with a write before it answers.
const (
	Fsync = "fsync" // it is on disk, as etcd has it unless told otherwise
	// NoFsync leaves that to the operating system: what was answered survives
	// the end of the process, but not that of the machine.
	NoFsync = "no-fsync"
)

// RunMember runs a member in its place, in a process of its own, until the context
// ends. It announces the id of this process when that has what it needs; [Serves]
// tells when it serves.
func RunMember(ctx context.Context, p local.Place, announce func(pid string)) error {
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
	go forget(ctx, member.Server)
	select {
	case <-ctx.Done():
		// It is not closed: that takes long where the others end as well, or are
		// stopped, and what it has on disk is not needed any more.
		return nil
	case err := <-member.Err():
		return fmt.Errorf("etcd ended: %w", err)
	case <-member.Server.StopNotify():
		return errors.New("etcd ended by itself")
	}
}

const (
	// A lease lives for at least one and a half election time-outs: these
	// admit sessions of one second.
	heartbeat = 100 * time.Millisecond
	election  = 500 * time.Millisecond
	// quota is how large the member's data may grow before it takes no more.
	quota = 8 << 30
)

func memberConfig(p local.Place) *embed.Config {
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

// callThrough has every connection that this process makes to other members go
// through a proxy. The library has no other way to be told.
func callThrough(proxy string) error {
	return errors.Join(os.Setenv("HTTP_PROXY", "socks5://"+proxy), os.Unsetenv("NO_PROXY"), os.Unsetenv("no_proxy"))
}

// peerAddress is where others call a member. Where they do so through a proxy it is
// by a name that leads nowhere else: Go calls this machine directly, whatever it is
// told.
func peerAddress(p local.Place, number int) string {
	address := p.Members[number-1].Peers
	if p.Proxy == "" {
		return address
	}
	return fmt.Sprintf("member-%d.invalid%s", number, address[strings.LastIndexByte(address, ':'):])
}

// memberName is a name that no member of another cluster on this machine has: in
// it is the directory of the whole.
func memberName(p local.Place, number int) string {
	return filepath.Base(filepath.Dir(p.Dir)) + "-" + strconv.Itoa(number)
}
