package lean

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/ensemble"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// A Conn is one session. It is a [drivers.Fencer] and a
// [drivers.PersistentWatcher].
//
// While it is disconnected, calls that have not been sent wait for the
// reconnect; those that have been fail with ErrConnectionLoss. The session is
// lost when the service says so, when it has been disconnected for as long as
// its time-out, since by then the service has ended it or is about to, and when
// it is closed. Then OnState is told first, then Done is closed, and then Lost
// is fired at all armed watches.
type Conn struct {
	options  drivers.Options
	ensemble *ensemble.Ensemble
	pulse    *pulse
	calls    *sync.Pool
	decoding chan struct{} // holds one for each large reply that is decoded
	acl      []wire.ACL    // of the nodes it makes
	watches  watches
	line     atomic.Pointer[line] // where to ask; nil while disconnected and when the session is over

	mu      sync.Mutex // guards what follows, and is held while OnState is told
	session wire.ConnectResponse
	live    *line // the connection, asked on or not
	over    bool
	closing bool
	wake    chan struct{} // closed when there is a connection; nil if nobody waits

	done   chan struct{}
	gone   chan struct{}   // closed when nothing runs any more
	ctx    context.Context // of attempts to connect again
	cancel context.CancelFunc

	// What follows belongs to the goroutine that connects and reads.
	position int64 // of the last reply
	told     int64 // the session was told of all changes to its watches up to here
	rearming bool  // its watches are not all armed again since the last reconnect
	turn     int   // the server tried last
}

var (
	_ drivers.Conn              = (*Conn)(nil)
	_ drivers.Fencer            = (*Conn)(nil)
	_ drivers.PersistentWatcher = (*Conn)(nil)
	_ drivers.Pipeliner         = (*Conn)(nil)
)

func newConn(s *Service, o drivers.Options, first int) *Conn {
	if o.SessionTimeout == 0 {
		o.SessionTimeout = drivers.DefaultSessionTimeout
	}
	c := &Conn{
		options:  o,
		ensemble: s.Ensemble,
		pulse:    &s.pulse,
		calls:    &s.calls,
		decoding: s.decoding,
		acl:      []wire.ACL{s.User.ACL()},
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

// open establishes the session. The context bounds just that.
func (c *Conn) open(ctx context.Context) error {
	l, err := c.connect(ctx)
	if err != nil {
		c.cancel()
		return err
	}
	c.established(l, false)
	c.pulse.join(c, c.timeout())
	go c.run(l)
	return nil
}

// run reads from one connection after the other until the session is over.
func (c *Conn) run(l *line) {
	defer close(c.gone)
	defer c.cancel()
	defer c.pulse.leave(c)
	defer c.end()
	for l != nil {
		why := l.serve()
		c.leave(l)
		switch why {
		case errClosed:
			return
		case errUnarmed:
			c.shut() // nobody would be told of anything any more
		}
		l = c.reconnect()
	}
}

// reconnect returns nil when the session is over.
func (c *Conn) reconnect() *line {
	ctx, cancel := context.WithTimeout(c.ctx, c.timeout())
	defer cancel()
	l, err := c.connect(ctx)
	if err != nil {
		return nil
	}
	c.established(l, true)
	return l
}

// established lets calls through to a new connection, behind what arms the
// watches again; or closes the session on it, if that is what it is for.
func (c *Conn) established(l *line, again bool) {
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
		c.line.Store(l)
		if again {
			c.changed(drivers.Connected)
		}
		c.rouse()
	}
}

// leave parts with a connection that has ended, and fails what it leaves
// unanswered.
func (c *Conn) leave(l *line) {
	c.mu.Lock()
	c.line.Store(nil)
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

// changed must be called with the lock held.
func (c *Conn) changed(s drivers.State) {
	if c.options.OnState != nil {
		c.options.OnState(s)
	}
}
