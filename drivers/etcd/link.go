package etcd

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"math"
	"net"
	"strings"
	"sync/atomic"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/greeting"
)

// A link is one network connection of a session. It notifies the tap of a break before the
// library learns of it.
type link struct {
	net.Conn
	tap      *tap
	answered atomic.Bool // the server has sent something
}

func (l *link) Read(p []byte) (int, error) {
	n, err := l.Conn.Read(p)
	if n > 0 && !l.answered.Load() {
		l.answered.Store(true)
	}
	if err != nil {
		l.tap.unlinked(l)
		l.tap.refused(err)
	}
	return n, err
}

func (l *link) Write(p []byte) (int, error) {
	n, err := l.Conn.Write(p)
	if err != nil {
		l.tap.unlinked(l)
	}
	return n, err
}

// Close is called by the library when it abandons the connection, and at the end. What the library says of a server that
// sent nothing until then names neither.
func (l *link) Close() error {
	if !l.answered.Load() {
		l.tap.undone(cmp.Or(l.tap.undialed(), drivers.ErrSilent))
	}
	l.tap.unlinked(l)
	return l.Conn.Close()
}

// link connects to a server.
func (t *tap) link(ctx context.Context, address string) (net.Conn, error) {
	conn, err := t.dial(ctx, address)
	if err == nil {
		conn = greeting.Check(conn, t.begins)
	}
	if err == nil && t.through != nil {
		conn = t.through(conn)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.dialing = err
	if err != nil {
		return nil, err
	}
	l := &link{Conn: conn, tap: t}
	t.links[l] = true
	return l, nil
}

// undone records why a dialed connection could not be used.
func (t *tap) undone(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.dialing = err
}

// refused records the error of a connection whose server did not begin as it should.
func (t *tap) refused(err error) {
	if greeting.Final(err) || errors.Is(err, drivers.ErrHungUp) {
		t.undone(err)
	}
}

// undialed returns the error of the last attempt to connect, or nil.
func (t *tap) undialed() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.dialing
}

// unlinked records that a connection has ended. If the library has another connection open at
// the same time and abandons one of the two, the session stays connected.
func (t *tap) unlinked(l *link) {
	t.mu.Lock()
	last := t.links[l] && len(t.links) == 1
	delete(t.links, l)
	if last {
		t.breaks++
		t.report(cut)
	}
	t.mu.Unlock()
	if last {
		t.broken()
	}
}

// linked reports whether there is a connection and the number of breaks has not changed.
func (t *tap) linked(breaks uint64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.breaks == breaks && len(t.links) > 0
}

// cut breaks the connection, unless the number of breaks has changed.
func (t *tap) cut(breaks uint64) {
	t.mu.Lock()
	if t.breaks != breaks {
		t.mu.Unlock()
		return
	}
	t.breaks++
	t.report(cut)
	links := t.links
	t.links = map[*link]bool{}
	t.mu.Unlock()
	for l := range links {
		l.Conn.Close()
	}
	t.broken()
}

// encrypt encrypts the tap's connections.
func (t *tap) encrypt(cfg *tls.Config, host func(address string) string) grpc.DialOption {
	t.begins = greeting.TLS
	return grpc.WithTransportCredentials(encryption{credentials.NewTLS(cfg), t, cfg.ServerName, host})
}

// encryption is gRPC's TLS with two changes. First, gRPC checks a server by the address that
// was dialed, even if the configuration names the server; encryption uses the configured name.
// Second, gRPC considers a connection established before the server has checked the client's
// certificate, and then it is random whether gRPC learns of a refusal or only that its first
// write failed; encryption waits for the server's first byte.
type encryption struct {
	credentials.TransportCredentials
	tap  *tap   // learns why there is no connection
	name string // of the server; "": the dialed address
	host func(address string) string
}

// ClientHandshake returns when the server has accepted the client.
func (e encryption) ClientHandshake(ctx context.Context, dialed string, c net.Conn) (net.Conn, credentials.AuthInfo, error) {
	if e.name != "" {
		dialed = e.name
	} else if e.host != nil {
		dialed = e.host(dialed)
	}
	conn, info, err := e.TransportCredentials.ClientHandshake(ctx, dialed, c)
	if err != nil && strings.Contains(err.Error(), "ALPN") { // gRPC has no other way to tell that the server offers no HTTP/2
		err = &greeting.Mismatch{Expected: greeting.Etcd}
	}
	if err != nil {
		e.tap.undone(err)
		return nil, nil, err
	}
	conn = greeting.Check(conn, greeting.Etcd)
	first, err := firstByte(ctx, conn)
	if err != nil {
		e.tap.undone(err)
		conn.Close()
		return nil, nil, err
	}
	return greeted{conn, io.MultiReader(bytes.NewReader(first), conn)}, info, nil
}

// firstByte reads the first byte that the server sends. A server that has accepted a client
// sends its settings without being asked.
func firstByte(ctx context.Context, c net.Conn) ([]byte, error) {
	stop := context.AfterFunc(ctx, func() { c.SetReadDeadline(time.Unix(1, 0)) })
	first := make([]byte, 1)
	n, err := c.Read(first)
	if !stop() {
		return nil, context.Cause(ctx)
	}
	return first[:n], err
}

// greeted is a connection whose first byte was already read.
type greeted struct {
	net.Conn
	from io.Reader
}

func (g greeted) Read(p []byte) (int, error) { return g.from.Read(p) }

// Clone implements credentials.TransportCredentials.
func (e encryption) Clone() credentials.TransportCredentials {
	return encryption{e.TransportCredentials.Clone(), e.tap, e.name, e.host}
}

// A lease keeps a session's ephemeral nodes.
type lease struct {
	id    int64
	ttl   time.Duration // as the server granted it
	until time.Time     // when the session is lost unless the lease is refreshed
	gone  bool          // the server said that there is no such lease
}

// refreshed records a refresh. The server counts from when it handled the request, which is
// after asked. The session is lost a tenth of the time earlier than the server may end it, so
// that the holder of a lock learns of the loss before another client acquires it.
func (l *lease) refreshed(asked time.Time, ttl int64) {
	l.ttl, l.gone = time.Duration(ttl)*time.Second, ttl <= 0
	l.until = asked.Add(l.ttl - l.ttl/10)
}

// grant obtains the lease. etcd counts in seconds: a session timeout is rounded up, and the
// server may grant more.
func (c *Conn) grant(ctx context.Context) error {
	timeout := cmp.Or(c.options.SessionTimeout, drivers.DefaultSessionTimeout)
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
		if c.refresh() {
			continue
		}
		if c.lease.gone {
			c.lose(drivers.SessionLost)
		} else {
			c.lose(drivers.SessionGivenUp)
		}
		return
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
