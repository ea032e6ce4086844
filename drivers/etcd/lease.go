package etcd

import (
	"context"
	"math"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	"github.com/stampede-bench/stampede/drivers"
)

// A lease keeps a session's ephemeral nodes.
type lease struct {
	id    int64
	ttl   time.Duration // as the server granted it
	until time.Time     // when the session is lost unless the lease is refreshed
}

// refreshed records a refresh. The server counts from when it handled the request, which is
// after asked. The session is lost a tenth of the time earlier than the server may end it, so
// that the holder of a lock learns of the loss before another client acquires it.
func (l *lease) refreshed(asked time.Time, ttl int64) {
	l.ttl = time.Duration(ttl) * time.Second
	l.until = asked.Add(l.ttl - l.ttl/10)
}

// grant obtains the lease. etcd counts in seconds: a session timeout is rounded up, and the
// server may grant more.
func (c *Conn) grant(ctx context.Context) error {
	timeout := c.options.SessionTimeout
	if timeout == 0 {
		timeout = drivers.DefaultSessionTimeout
	}
	asked := time.Now()
	granted, err := c.leases().LeaseGrant(clientv3.WithRequireLeader(ctx), &pb.LeaseGrantRequest{TTL: int64(math.Ceil(timeout.Seconds()))})
	if err != nil {
		return rpctypes.Error(err)
	}
	c.lease.id = granted.ID
	c.lease.refreshed(asked, granted.TTL)
	return nil
}

// leases returns the lease service without the library's retries.
func (c *Conn) leases() pb.LeaseClient { return pb.NewLeaseClient(c.library.ActiveConnection()) }

// keep refreshes the lease, three times within its time, until the session ends. It ends a
// session whose lease it cannot refresh.
func (c *Conn) keep() {
	for {
		select {
		case <-time.After(c.lease.ttl / 3):
		case <-c.done:
			return
		}
		if !c.refresh() {
			c.lose()
			return
		}
	}
}

// refresh refreshes the lease. It retries until the server answers or the time is over, and
// returns false if the lease is lost. Each heartbeat gets an equal share of the time that is
// left. If a member does not answer within its share, the session leaves it for the next
// member while there is time to reach that one.
func (c *Conn) refresh() bool {
	ctx, cancel := context.WithDeadline(c.library.Ctx(), c.lease.until)
	defer cancel()
	share := time.Until(c.lease.until) / time.Duration(len(c.library.Endpoints()))
	for {
		asked, breaks := time.Now(), c.tap.broke()
		ttl, err := c.heartbeat(ctx, share)
		if err == nil {
			c.lease.refreshed(asked, ttl)
			return ttl > 0
		}
		if code(err) == codes.DeadlineExceeded && ctx.Err() == nil && c.tap.linked(breaks) {
			c.turn()
			c.tap.cut(breaks)
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(firstPause):
		}
	}
}

// heartbeat sends one refresh and waits for the answer up to the limit. A time to live of 0
// means that the lease no longer exists.
func (c *Conn) heartbeat(ctx context.Context, limit time.Duration) (ttl int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	stream, err := c.leases().LeaseKeepAlive(ctx, grpc.WaitForReady(true))
	if err != nil {
		return 0, err
	}
	if err := stream.Send(&pb.LeaseKeepAliveRequest{ID: c.lease.id}); err != nil {
		return 0, err
	}
	answer, err := stream.Recv()
	return answer.GetTTL(), err
}

// revoke ends the lease, and with it all ephemeral nodes.
func (c *Conn) revoke(ctx context.Context) error {
	if _, err := c.leases().LeaseRevoke(ctx, &pb.LeaseRevokeRequest{ID: c.lease.id}); err != nil {
		return failed("revoke", c.key, err)
	}
	return nil
}
