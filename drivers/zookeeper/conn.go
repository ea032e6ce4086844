package zookeeper

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/ensemble"
	"github.com/stampede-bench/stampede/drivers/latch"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// A Conn is one session. It is a [drivers.Flusher], a [drivers.Librarian] and a [drivers.Transactor].
//
// While the session is disconnected, calls that have not been sent wait for the reconnect.
// Calls that have been sent fail with ErrConnectionLoss. The session is lost when the service
// says so, when it has been disconnected, or has heard nothing of the service, for its timeout (the
// service has ended it by then, or is about to), and when it is closed. The Conn then calls OnState, closes Done, and fires
// Lost at all armed watches, in this order.
type Conn struct {
	options  drivers.Options
	ensemble *ensemble.Ensemble
	acl      []zk.ACL // of the nodes that the session creates
	dialer   *dialer
	library  *zk.Conn
	over     <-chan zk.Event // closed when the library has ended

	latch   latch.Latch
	calls   calls
	watches *watches
	locks   locks

	session  session
	position atomic.Int64 // of the last reply
	resuming atomic.Bool  // calls wait until the library begins to arm its watches again
	done     chan struct{}
	ending   sync.Once     // of the session
	alive    atomic.Bool   // Close ends the session at the service
	closing  atomic.Bool   // shutdown has begun
	gone     chan struct{} // closed when shutdown is complete
}

var (
	_ drivers.Conn       = (*Conn)(nil)
	_ drivers.Flusher    = (*Conn)(nil)
	_ drivers.Librarian  = (*Conn)(nil)
	_ drivers.Transactor = (*Conn)(nil)
)

// Create makes a node. Only the session's user may use it; without a user, everyone may.
func (c *Conn) Create(ctx context.Context, path string, data []byte, mode drivers.Mode) (drivers.Child, error) {
	k, err := c.do(ctx, request{op: drivers.OpCreate, path: path, data: data, mode: mode})
	if err != nil {
		return drivers.Child{}, c.ensemble.User.ExplainUnsupported(err)
	}
	defer c.calls.put(k)
	child := drivers.Child{Name: base(k.name), Seq: drivers.NoSeq}
	if mode&drivers.Sequential != 0 {
		child.Seq, err = strconv.ParseInt(strings.TrimPrefix(child.Name, base(path)), 10, 64)
		if err != nil {
			return child, c.failed("create", path, err)
		}
	}
	return child, nil
}

// Delete removes a node.
func (c *Conn) Delete(ctx context.Context, path string, version int32) error {
	k, err := c.do(ctx, request{op: drivers.OpDelete, path: path, version: version})
	if err != nil {
		return err
	}
	c.calls.put(k)
	return nil
}

// Exists reports whether there is a node.
func (c *Conn) Exists(ctx context.Context, path string, w drivers.Watch) (drivers.Stat, bool, error) {
	k, err := c.read(ctx, request{op: drivers.OpExists, path: path, watch: w})
	if err != nil {
		return drivers.Stat{}, false, err
	}
	defer c.calls.put(k)
	if !k.found {
		return drivers.Stat{}, false, nil
	}
	return stat(k.stat), true, nil
}

// Get reads a node.
func (c *Conn) Get(ctx context.Context, path string, w drivers.Watch) ([]byte, drivers.Stat, error) {
	k, err := c.read(ctx, request{op: drivers.OpGet, path: path, watch: w})
	if err != nil {
		return nil, drivers.Stat{}, err
	}
	defer c.calls.put(k)
	return k.bytes, stat(k.stat), nil
}

// Set writes a node.
func (c *Conn) Set(ctx context.Context, path string, data []byte, version int32) (drivers.Stat, error) {
	k, err := c.do(ctx, request{op: drivers.OpSet, path: path, data: data, version: version})
	if err != nil {
		return drivers.Stat{}, err
	}
	defer c.calls.put(k)
	return stat(k.stat), nil
}

// SetAll sets several nodes in one multi.
func (c *Conn) SetAll(ctx context.Context, sets []drivers.Call) ([]drivers.Stat, error) {
	r := request{op: drivers.OpMulti, path: sets[0].Path, sets: make([]any, len(sets))}
	for i, s := range sets { // a copy of the data, since the caller may change it when the call was abandoned
		r.sets[i] = &zk.SetDataRequest{Path: c.ensemble.Path(s.Path), Data: bytes.Clone(s.Data), Version: s.Version}
	}
	k, err := c.do(ctx, r)
	if err != nil {
		return nil, err
	}
	defer c.calls.put(k)
	stats := make([]drivers.Stat, len(k.results))
	for i, result := range k.results {
		stats[i] = stat(result.Stat)
	}
	return stats, nil
}

// Children lists a node's children. The Seq of each is the number at the end of its name.
func (c *Conn) Children(ctx context.Context, path string, w drivers.Watch) ([]drivers.Child, error) {
	k, err := c.read(ctx, request{op: drivers.OpChildren, path: path, watch: w})
	if err != nil {
		return nil, err
	}
	defer c.calls.put(k)
	children := make([]drivers.Child, len(k.children))
	for i, name := range k.children {
		children[i] = drivers.Child{Name: name, Seq: ensemble.Sequence(name)}
	}
	return children, nil
}

// read makes a call that only reads, after a sync if the service is configured for that.
func (c *Conn) read(ctx context.Context, r request) (*call, error) {
	if c.ensemble.SyncReads {
		if err := c.Sync(ctx, r.path); err != nil {
			return nil, err
		}
	}
	return c.do(ctx, r)
}

// Sync brings the server that this session is connected to up to date.
func (c *Conn) Sync(ctx context.Context, path string) error {
	return c.catchUp(ctx, request{op: drivers.OpSync, path: path})
}

// Flush is a sync of a path of its own. The server answers it when it has caught up with the
// leader. Before the answer it sends the notifications for all writes that it has applied.
func (c *Conn) Flush(ctx context.Context) error {
	return c.catchUp(ctx, request{op: drivers.OpFlush, path: wire.FlushPath})
}

// catchUp makes a sync, and repeats it as often as needed.
func (c *Conn) catchUp(ctx context.Context, r request) error {
	return c.ensemble.CatchUp(ctx, func() (int64, error) {
		k, err := c.do(ctx, r)
		if err != nil {
			return 0, err
		}
		c.calls.put(k)
		return c.position.Load(), nil
	})
}

// Done is closed when the session is lost or closed.
func (c *Conn) Done() <-chan struct{} { return c.done }

func base(p string) string { return p[strings.LastIndexByte(p, '/')+1:] }

func stat(s *zk.Stat) drivers.Stat {
	return drivers.Stat{
		Version:   s.Version,
		Created:   s.Czxid,
		Modified:  s.Mzxid,
		Ephemeral: s.EphemeralOwner != 0,
	}
}

// failed wraps an error of the library, or of the latch, with the caller's path.
func (c *Conn) failed(op, path string, err error) error {
	return &drivers.CallError{Call: op, Path: path, Sentinel: c.sentinel(err), Cause: err}
}

func (c *Conn) sentinel(err error) error {
	switch {
	case errors.Is(err, zk.ErrNoNode):
		return drivers.ErrNoNode
	case errors.Is(err, zk.ErrNodeExists):
		return drivers.ErrNodeExists
	case errors.Is(err, zk.ErrBadVersion):
		return drivers.ErrBadVersion
	case errors.Is(err, zk.ErrNotEmpty):
		return drivers.ErrNotEmpty
	case errors.Is(err, zk.ErrNoChildrenForEphemerals):
		return drivers.ErrNoChildrenForEphemerals
	case errors.Is(err, zk.ErrSessionExpired):
		return drivers.ErrSessionLost
	case errors.Is(err, zk.ErrNoAuth), errors.Is(err, zk.ErrAuthFailed), errors.Is(err, zk.ErrInvalidACL):
		return drivers.ErrRefused
	case unimplemented(err):
		return drivers.ErrUnsupported
	case broken(err) && c.lost():
		return drivers.ErrSessionLost
	case broken(err):
		return drivers.ErrConnectionLoss
	}
	return nil
}

// broken reports whether an error means that the connection has ended.
func broken(err error) bool {
	return errors.Is(err, zk.ErrConnectionClosed) || errors.Is(err, zk.ErrNoServer) ||
		errors.Is(err, zk.ErrClosing) || errors.Is(err, zk.ErrSessionMoved)
}

// introduce sends the session's credentials. The library repeats them on every further
// connection, before it sends anything else there. ZooKeeper does not say whether it knows the
// user: it refuses the operations that the user is not permitted.
func (c *Conn) introduce(ctx context.Context) error {
	if c.ensemble.User.IsZero() {
		return nil
	}
	err := c.insist(ctx, request{op: drivers.OpOther})
	var f *drivers.CallError
	if errors.As(err, &f) {
		f.Call, f.Path = "give", "credentials"
	}
	return err
}

// unimplemented reports whether the server does not implement the request. The library has no
// error of its own for that.
func unimplemented(err error) bool {
	return strings.HasSuffix(err.Error(), " "+strconv.Itoa(int(wire.ErrUnimplemented)))
}

// closeTime is how long Close waits for the library to reconnect. The library then tries to send
// its request for as long again.
const closeTime = 2 * time.Second

// Close ends the session: first for this client, as when it is lost, then at the service. If
// the connection is broken meanwhile, the library may not end the session at the service: its
// ephemeral nodes then stay until the session expires. Close does not wait for the library where
// the session was lost, or never established: the library then takes up to 2 s to end.
func (c *Conn) Close() error {
	if c.isOpen() && !c.lost() {
		c.alive.Store(true)
	}
	c.end(drivers.SessionClosed)
	if c.alive.Load() {
		c.shutdown()
	} else {
		go c.shutdown()
	}
	return nil
}

// shutdown ends the library, and the session at the service if it is alive, and waits for the
// library's goroutines.
func (c *Conn) shutdown() {
	if !c.closing.CompareAndSwap(false, true) {
		<-c.gone
		return
	}
	defer close(c.gone)
	c.watches.imminent.Wait()
	if c.alive.Load() {
		c.reconnected()
	} else {
		c.dialer.stop()
	}
	c.library.Close()
	c.dialer.stop() // if the service did not answer
	for range c.over {
	}
	c.locks.close()
	c.calls.close()
}

// reconnected waits until requests can be sent: as other requests, that which ends the session
// comes after those that arm watches again; see hasSession.
func (c *Conn) reconnected() {
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	c.latch.Wait(ctx, nil)
}

// Cut cuts the connection, if there is one; see [drivers.Cutter].
func (c *Conn) Cut() {
	c.session.mu.Lock()
	defer c.session.mu.Unlock()
	if c.session.last != nil {
		c.session.last.Close()
	}
}
