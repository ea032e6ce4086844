package zookeeper

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/ensemble"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// session is the state of a Conn's session.
type session struct {
	mu        sync.Mutex
	opened    chan struct{} // closed when it is established
	connected bool
	over      bool
	last      *connection
	granted   wire.ConnectResponse // by the service
	expiry    *time.Timer          // running while disconnected; nil before the session is established
}

// timeout returns how long the service keeps the session.
func (s *session) timeout() time.Duration {
	return time.Duration(s.granted.Timeout) * time.Millisecond
}

// open starts the library, which tries the servers, beginning with one of them, until it has a
// session.
func (s *Service) open(o drivers.Options, first int) *Conn {
	o.SessionTimeout = cmp.Or(o.SessionTimeout, drivers.DefaultSessionTimeout)
	c := &Conn{
		options:  o,
		ensemble: s.Ensemble,
		acl:      accessList(s.User.ACL()),
		watches:  newWatches(),
		done:     make(chan struct{}),
		gone:     make(chan struct{}),
	}
	c.session.opened = make(chan struct{})
	c.dialer = &dialer{servers: s.Servers, turn: first - 1, refused: make(chan struct{})}
	c.dialer.connect = c.connect
	// The library may call back before Connect has returned.
	c.session.mu.Lock()
	defer c.session.mu.Unlock()
	c.library, c.over, _ = zk.Connect(s.Servers, o.SessionTimeout,
		zk.WithHostProvider(c.dialer), zk.WithDialer(c.dialer.dial), zk.WithEventCallback(c.changed),
		zk.WithLogger(quiet{}), zk.WithLogInfo(false))
	return c
}

// accessList converts an access list to the library's type.
func accessList(a wire.ACL) []zk.ACL {
	return []zk.ACL{{Perms: a.Perms, Scheme: a.Scheme, ID: a.ID}}
}

// quiet discards the library's log of connections: callers get the errors.
type quiet struct{}

func (quiet) Printf(string, ...any) {}

// connect connects to a server for the library.
func (c *Conn) connect(ctx context.Context, address string) (net.Conn, error) {
	conn, err := c.ensemble.Connect(ctx, address, c.options.Through)
	if err != nil {
		return nil, err
	}
	tap := wire.NewTap(conn, (*listener)(c), c.options.LoseReply)
	c.session.mu.Lock()
	defer c.session.mu.Unlock()
	c.session.last = newConnection(tap, c.dialer, address, c.ensemble.Share(c.options))
	return c.session.last, nil
}

// A connection is a tap whose errors the library reports too late or not at all. It ends if the server sends nothing in
// time: the library would wait for longer than a session lasts until it tries another server.
type connection struct {
	*wire.Tap
	dialer   *dialer
	address  string
	answered bool        // the server has sent something; only Read uses it
	silent   atomic.Bool // it ended since the server sent nothing
	timer    *time.Timer // ends the connection to a silent server
}

func newConnection(tap *wire.Tap, d *dialer, address string, patience time.Duration) *connection {
	c := &connection{Tap: tap, dialer: d, address: address}
	c.timer = time.AfterFunc(patience, func() {
		c.silent.Store(true)
		tap.Close()
	})
	return c
}

// Read tells the dialer why a connection ended, since the library does not.
func (c *connection) Read(p []byte) (int, error) {
	n, err := c.Tap.Read(p)
	if n > 0 && !c.answered {
		c.answered = true
		c.timer.Stop()
	}
	if err != nil {
		c.timer.Stop()
		if errors.Is(err, os.ErrDeadlineExceeded) {
			c.silent.Store(true)
		}
		if c.silent.Load() {
			err = fmt.Errorf("%s: %w", c.address, drivers.ErrSilent)
		}
		c.dialer.failed(err)
	}
	return n, err
}

// Write never fails: it closes the connection instead, and the library's reader gets the error.
// The library blocks forever when it reports the end of a connection to a request that has
// already had two reports: of a failed Write and of Close.
func (c *connection) Write(p []byte) (int, error) {
	if _, err := c.Tap.Write(p); err != nil {
		c.Tap.Close()
	}
	return len(p), nil
}

// established waits for the first connection.
func (c *Conn) established(ctx context.Context) error {
	select {
	case <-c.session.opened:
		return nil
	case <-c.dialer.refused:
		return c.dialer.lastError()
	case <-c.done:
		return drivers.ErrSessionLost
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// insist repeats a call until the connection lasts until its answer.
func (c *Conn) insist(ctx context.Context, r request) error {
	return drivers.Repeat(ctx, func() error {
		k, err := c.do(ctx, r)
		if err == nil {
			c.calls.put(k)
		}
		return err
	})
}

// listener is the Conn as the probe of its own connections.
type listener Conn

// Message receives every message in the order of the connection. It calls the probe of the
// options first, so that the probe sees an event before the watch does.
func (l *listener) Message(m drivers.Message) {
	c := (*Conn)(l)
	if c.options.Probe != nil {
		c.options.Probe.Message(m)
	}
	switch m.Kind {
	case drivers.Request:
		switch m.Op {
		case drivers.OpCreate:
			c.locks.createSent(&m)
		case drivers.OpRearm, drivers.OpPing:
			c.resumed()
		}
	case drivers.Reply:
		c.position.Store(max(c.position.Load(), m.Pos)) // replies come one at a time
		c.ensemble.Show(m.Pos)
		if m.Op == drivers.OpRearm && m.Err != nil {
			go c.Close() // its watches would never fire
		}
		if m.Watch {
			c.watches.answered(&m)
		} else if m.Op == drivers.OpCreate {
			c.locks.created(&m)
		}
	case drivers.Notification:
		c.watches.notified(&m)
	case drivers.Cut:
		c.resuming.Store(false)
		c.latch.SetConnected(false)
	}
}

// changed is the library's callback. It runs on the goroutine that connects.
func (c *Conn) changed(e zk.Event) {
	if e.Type != zk.EventSession {
		return
	}
	switch e.State {
	case zk.StateHasSession:
		c.hasSession()
	case zk.StateDisconnected:
		c.disconnected()
	case zk.StateExpired:
		c.end(drivers.SessionLost)
		c.dialer.stop() // otherwise the library opens another session next
		go c.shutdown() // waits for this goroutine to end
	}
}

// hasSession is called before the library sends or reads anything on the new connection. If it
// will arm watches again, calls wait until it has begun to. The library has a data race: it reads
// the position of the last reply for the request that arms watches while it may be reading a
// reply. A call before that request could show a change before its watch reports it, or let the
// watch miss it.
func (c *Conn) hasSession() {
	s := &c.session
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.watches.any() {
		c.resuming.Store(true)
	} else {
		c.latch.SetConnected(true)
	}
	if s.over {
		return
	}
	s.connected = true
	s.granted = s.last.Session()
	if s.expiry == nil {
		s.expiry = time.AfterFunc(s.timeout(), c.outlived)
		s.expiry.Stop()
		close(s.opened)
		return
	}
	s.expiry.Stop()
	c.reportState(drivers.Connected)
}

// resumed is called with each request that the library sends by itself. A heartbeat shows as well
// that it has no watches to arm: it did not read the whole reply that armed them.
func (c *Conn) resumed() {
	if c.resuming.CompareAndSwap(true, false) {
		c.latch.SetConnected(true)
	}
}

func (c *Conn) disconnected() {
	s := &c.session
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over || !s.connected {
		return
	}
	s.connected = false
	s.expiry.Reset(ensemble.Left(s.timeout(), s.last.silent.Load()))
	c.reportState(drivers.Disconnected)
}

// outlived is called when the session has been disconnected, or has heard nothing of the service, for its timeout.
func (c *Conn) outlived() {
	c.end(drivers.SessionGivenUp)
	c.shutdown()
}

func (c *Conn) reportState(s drivers.State) {
	if c.options.OnState != nil {
		c.options.OnState(s)
	}
}

// end ends the session for this client: it calls OnState, closes Done and fires the watches.
func (c *Conn) end(why drivers.State) {
	c.ending.Do(func() {
		s := &c.session
		s.mu.Lock()
		s.over = true
		if s.expiry != nil {
			s.expiry.Stop()
			c.reportState(why)
		}
		close(c.done)
		s.mu.Unlock()
		c.watches.end()
	})
}

func (c *Conn) isOpen() bool {
	select {
	case <-c.session.opened:
		return true
	default:
		return false
	}
}

func (c *Conn) lost() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}
