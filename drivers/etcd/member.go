package etcd

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
)

// What a member does with a write before it answers.
const (
	Fsync = "fsync" // it is on disk, as etcd has it unless told otherwise
	// NoFsync leaves that to the operating system: what was answered survives
	// the end of the process, but not that of the machine.
	NoFsync = "no-fsync"
)

// RunMember runs a cluster of one member on free ports of the loopback interface
// until the context ends. It announces the address of the clients' port once the
// member answers there. Its data is in a temporary directory (TMPDIR says
// where), which is removed with it.
func RunMember(ctx context.Context, durability string, announce func(address string)) error {
	if durability != Fsync && durability != NoFsync {
		return fmt.Errorf("durability %q: want %s or %s", durability, Fsync, NoFsync)
	}
	dir, err := os.MkdirTemp("", "stampede-etcd-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	member, err := embed.StartEtcd(memberConfig(dir, durability))
	if err != nil {
		return fmt.Errorf("start etcd: %w", err)
	}
	defer member.Close()
	select {
	case <-member.Server.ReadyNotify():
	case <-ctx.Done():
		return nil
	}
	go forget(ctx, member.Server)
	announce(member.Clients[0].Addr().String())
	select {
	case <-ctx.Done():
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

func memberConfig(dir, durability string) *embed.Config {
	anyPort := []url.URL{{Scheme: "http", Host: "127.0.0.1:0"}}
	c := embed.NewConfig()
	c.Dir = dir
	c.ListenClientUrls, c.AdvertiseClientUrls = anyPort, anyPort
	c.ListenPeerUrls, c.AdvertisePeerUrls = anyPort, anyPort
	c.InitialCluster = c.InitialClusterFromName(c.Name)
	c.TickMs, c.ElectionMs = uint(heartbeat.Milliseconds()), uint(election.Milliseconds())
	c.QuotaBackendBytes = quota
	c.UnsafeNoFsync = durability == NoFsync
	c.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop())
	return c
}
