package zookeeper

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// session is the state of a Conn's session.
type session struct {
	mu        sync.Mutex
	opened    chan struct{} // closed when it is established
	connected bool
	over      bool
	tap       *wire.Tap            // of the last connection
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
	if o.SessionTimeout == 0 {
		o.SessionTimeout = drivers.DefaultSessionTimeout
	}
	c := &Conn{
		options:  o,
		ensemble: s.Ensemble,
		acl:      accessList(s.User.ACL()),
		watches:  newWatches(),
		done:     make(chan struct{}),
		gone:     make(chan struct{}),
	}
	c.session.opened = make(chan struct{})
	c.dialer = &dialer{servers: s.Servers, turn: first - 1,
		arrived: make(chan struct{}, 1), refused: make(chan struct{})}
	c.connect = func(ctx context.Context, address string) (*wire.Tap, error) {
		conn, err := s.Connect(ctx, address, o.Through)
		if err != nil {
			return nil, err
		}
		return wire.NewTap(conn, (*listener)(c), o.LoseReply), nil
	}
	c.dialer.connect = c.link
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

// link connects to a server for the library.
func (c *Conn) link(ctx context.Context, address string) (net.Conn, error) {
	tap, err := c.connect(ctx, address)
	if err != nil {
		return nil, err
	}
	c.session.mu.Lock()
	defer c.session.mu.Unlock()
	c.session.tap = tap
	return &link{Tap: tap, dialer: c.dialer, position: &c.position, rearm: &c.rearm, unarmed: c.rearm.begin()}, nil
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
	for {
		k, err := c.do(ctx, r)
		if err == nil {
			c.calls.put(k)
			return nil
		}
		if !errors.Is(err, drivers.ErrConnectionLoss) {
			return err
		}
	}
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
		if m.Op == drivers.OpCreate {
			c.locks.asked(&m)
		}
	case drivers.Reply:
		c.position.Store(max(c.position.Load(), m.Pos)) // replies come one at a time
		c.ensemble.Show(m.Pos)
		c.rearm.replied(&m, c.position.Load())
		if m.Op == drivers.OpRearm && m.Err != nil {
			go c.Close() // its watches would never fire
		}
		if m.Op == drivers.OpClose || m.Op == drivers.OpOpen && m.Err != nil {
			c.closed.Store(true)
		}
		if m.Watch {
			c.watches.answered(&m)
		} else if m.Op == drivers.OpCreate {
			c.locks.created(&m)
		}
	case drivers.Notification:
		c.rearm.fired(&m)
		c.watches.notified(&m)
	case drivers.Cut:
		c.gate.set(true)
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
		c.end()
		c.dialer.stop()      // otherwise the library opens another session next
		go c.shutdown(false) // waits for this goroutine to end
	}
}

func (c *Conn) hasSession() {
	s := &c.session
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return
	}
	s.connected = true
	c.gate.set(false)
	s.granted = s.tap.Session()
	if s.expiry == nil {
		s.expiry = time.AfterFunc(s.timeout(), c.outlived)
		s.expiry.Stop()
		close(s.opened)
		return
	}
	s.expiry.Stop()
	c.tell(drivers.Connected)
}

func (c *Conn) disconnected() {
	s := &c.session
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over || !s.connected {
		return
	}
	s.connected = false
	s.expiry.Reset(s.timeout())
	c.tell(drivers.Disconnected)
}

// outlived is called when the session has been disconnected for its timeout.
func (c *Conn) outlived() {
	c.end()
	c.shutdown(false)
}

func (c *Conn) tell(s drivers.State) {
	if c.options.OnState != nil {
		c.options.OnState(s)
	}
}

// end ends the session for this client: it calls OnState, closes Done and fires the watches.
func (c *Conn) end() {
	c.ending.Do(func() {
		s := &c.session
		s.mu.Lock()
		s.over = true
		if s.expiry != nil {
			s.expiry.Stop()
			c.tell(drivers.SessionLost)
		}
		close(c.done)
		s.mu.Unlock()
		c.watches.end()
	})
}

func (c *Conn) lost() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}
