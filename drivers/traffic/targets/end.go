package targets

import (
	"context"
	"errors"
	"fmt"
	"net"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/stampede-bench/stampede/drivers/ensemble"
)

// Sessions ends sessions of ZooKeeper's protocol: it takes them over and closes them.
type Sessions struct {
	Servers []string // host:port
	Dial    func(ctx context.Context, server string) (net.Conn, error)
}

// End ends the session.
func (s Sessions) End(ctx context.Context, of Session) error {
	return ensemble.EndSession(ctx, s.Servers, s.Dial, of.ZooKeeper)
}

// Leases ends the leases of clients of etcd.
type Leases struct{ Client *clientv3.Client }

// End revokes all leases that the client was granted, and that are left.
func (l Leases) End(ctx context.Context, of Session) error {
	for _, id := range of.Leases {
		_, err := l.Client.Revoke(ctx, clientv3.LeaseID(id))
		if err != nil && !errors.Is(err, rpctypes.ErrLeaseNotFound) {
			return fmt.Errorf("revoke lease %x: %w", id, err)
		}
	}
	return nil
}
