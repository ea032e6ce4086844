package lean

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/ensemble"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// A Conn is one session. It is a [drivers.Flusher], a [drivers.PersistentWatcher] and a
// [drivers.Pipeliner].
//
// While the session is disconnected, calls that have not been sent wait for the reconnect.
// Calls that have been sent fail with ErrConnectionLoss. The session is lost when the service
// says so, when it has been disconnected for its timeout (the service has ended it by then, or
// is about to), and when it is closed. The Conn then calls OnState, closes Done, and fires
// Lost at all armed watches, in this order.
type Conn struct {
	options    drivers.Options
	ensemble   *ensemble.Ensemble
	heartbeats *heartbeats
	calls      *sync.Pool
	decoding   chan struct{} // has one entry for each large reply that is being decoded
	acl        []wire.ACL    // of the nodes that the session creates
	watches    watches
	link       atomic.Pointer[link] // accepts calls; nil while disconnected and when the session has ended

	mu      sync.Mutex // guards what follows, and is held while OnState is called
	session wire.ConnectResponse
	live    *link // the connection, whether or not it accepts calls
	over    bool
	closing bool
	wake    chan struct{} // closed when there is a connection; nil if no call waits

	done   chan struct{}
	gone   chan struct{}   // closed when the session's goroutine has ended
	ctx    context.Context // of attempts to reconnect
	cancel context.CancelFunc

	// The following fields belong to the goroutine that connects and reads.
	position int64 // of the last reply
	told     int64 // position up to which the session was notified of all changes to its watches
	rearming bool  // not all watches are armed again since the last reconnect
	turn     int   // the server tried last
}

var (
	_ drivers.Conn              = (*Conn)(nil)
	_ drivers.Flusher           = (*Conn)(nil)
	_ drivers.PersistentWatcher = (*Conn)(nil)
	_ drivers.Pipeliner         = (*Conn)(nil)
)

func newConn(s *Service, o drivers.Options, first int) *Conn {
	if o.SessionTimeout == 0 {
		o.SessionTimeout = drivers.DefaultSessionTimeout
	}
	c := &Conn{
		options:    o,
		ensemble:   s.Ensemble,
		heartbeats: &s.heartbeats,
		calls:      &s.calls,
		decoding:   s.decoding,
		acl:        []wire.ACL{s.User.ACL()},
		session: wire.ConnectResponse{
			Timeout:  int32(o.SessionTimeout.Milliseconds()),
			Password: make([]byte, wire.PasswordSize),
		},
		done: make(chan struct{}),
		gone: make(chan struct{}),
		turn: first - 1,
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c
}

// open establishes the session. The context bounds only that.
func (c *Conn) open(ctx context.Context) error {
	l, err := c.connect(ctx)
	if err != nil {
		c.cancel()
		return err
	}
	c.established(l, false)
	c.heartbeats.join(c, c.timeout())
	go c.run(l)
	return nil
}

// run reads from one connection after the other until the session ends.
func (c *Conn) run(l *link) {
	defer close(c.gone)
	defer c.cancel()
	defer c.heartbeats.leave(c)
	defer c.end()
	for l != nil {
		why := l.serve()
		c.leave(l)
		switch why {
		case errClosed:
			return
		case errUnarmed:
			c.shut() // its watches would never fire again
		}
		l = c.reconnect()
	}
}

// reconnect returns a new connection, or nil when the session has ended.
func (c *Conn) reconnect() *link {
	ctx, cancel := context.WithTimeout(c.ctx, c.timeout())
	defer cancel()
	l, err := c.connect(ctx)
	if err != nil {
		return nil
	}
	c.established(l, true)
	return l
}

// established lets calls use a new connection, after the requests that arm the watches again.
// If the session is being closed, it sends the close request instead.
func (c *Conn) established(l *link, again bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.live = l
	switch {
	case c.ctx.Err() != nil:
		l.net.Close()
	case c.closing:
		l.post(c.closeCall())
	default:
		calls := c.rearm(c.told)
		c.rearming = len(calls) > 0
		for _, k := range calls {
			l.post(k)
		}
		c.link.Store(l)
		if again {
			c.changed(drivers.Connected)
		}
		c.rouse()
	}
}

// leave abandons a connection that has ended, and fails its unanswered calls.
func (c *Conn) leave(l *link) {
	c.mu.Lock()
	c.link.Store(nil)
	c.live = nil
	c.mu.Unlock()
	c.watches.leave()
	left := l.cut()
	c.mu.Lock()
	if !c.over {
		c.changed(drivers.Disconnected)
	}
	c.mu.Unlock()
	for k := left.pop(); k != nil; k = left.pop() {
		k.err = errBroken
		c.watches.settled(k)
		if k.finish() {
			k.done <- struct{}{}
		} else {
			c.free(k)
		}
	}
}

// changed calls OnState. The caller holds the lock.
func (c *Conn) changed(s drivers.State) {
	if c.options.OnState != nil {
		c.options.OnState(s)
	}
}
