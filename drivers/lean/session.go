package lean

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/ensemble"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// A Conn is one session. It is a [drivers.Flusher], a [drivers.PersistentWatcher], a
// [drivers.Pipeliner] and a [drivers.Transactor].
//
// While the session is disconnected, calls that have not been sent wait for the reconnect.
// Calls that have been sent fail with ErrConnectionLoss. The session is lost when the service
// says so, when it has been disconnected, or has heard nothing of the service, for its timeout (the
// service has ended it by then, or is about to), and when it is closed. The Conn then calls OnState, closes Done, and fires
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
	_ drivers.Transactor        = (*Conn)(nil)
)

func newConn(s *Service, o drivers.Options, first int) *Conn {
	o.SessionTimeout = cmp.Or(o.SessionTimeout, drivers.DefaultSessionTimeout)
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
	defer c.end(drivers.SessionClosed)
	for l != nil {
		why := l.serve()
		c.leave(l)
		switch why {
		case errClosed:
			return
		case errUnarmed:
			c.shut(drivers.SessionGivenUp) // its watches would never fire again
		}
		l = c.reconnect(ensemble.Left(c.timeout(), l.silent.Load()))
	}
}

// reconnect returns a new connection, or nil when the session has ended: by itself if that takes longer than what is left of
// its life.
func (c *Conn) reconnect(left time.Duration) *link {
	ctx, cancel := context.WithTimeout(c.ctx, left)
	defer cancel()
	l, err := c.connect(ctx)
	switch {
	case errors.Is(err, errExpired):
		c.end(drivers.SessionLost)
		return nil
	case err != nil:
		c.end(drivers.SessionGivenUp)
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

// Create makes a node. Only the session's user may use it; without a user, everyone may.
func (c *Conn) Create(ctx context.Context, path string, data []byte, mode drivers.Mode) (drivers.Child, error) {
	k, err := c.do(ctx, request{op: drivers.OpCreate, code: wire.OpCreate, path: path, data: data, mode: mode})
	if err != nil {
		return drivers.Child{}, c.ensemble.User.ExplainUnsupported(err)
	}
	defer c.free(k)
	child := drivers.Child{Name: k.name, Seq: drivers.NoSeq}
	if mode&drivers.Sequential != 0 {
		asked := path[strings.LastIndexByte(path, '/')+1:]
		child.Seq, err = strconv.ParseInt(strings.TrimPrefix(child.Name, asked), 10, 64)
		if err != nil {
			return child, c.failed(&k.request, fmt.Errorf("created as %q: %w", child.Name, wire.ErrMalformed))
		}
	}
	return child, nil
}

// Delete removes a node.
func (c *Conn) Delete(ctx context.Context, path string, version int32) error {
	return c.simply(ctx, request{op: drivers.OpDelete, code: wire.OpDelete, path: path, version: version})
}

// Exists reports whether there is a node.
func (c *Conn) Exists(ctx context.Context, path string, w drivers.Watch) (drivers.Stat, bool, error) {
	k, err := c.do(ctx, request{op: drivers.OpExists, code: wire.OpExists, path: path, watch: w})
	if err != nil {
		return drivers.Stat{}, false, err
	}
	defer c.free(k)
	return k.stat, k.answer == wire.OK, nil
}

// Get reads a node.
func (c *Conn) Get(ctx context.Context, path string, w drivers.Watch) ([]byte, drivers.Stat, error) {
	k, err := c.do(ctx, request{op: drivers.OpGet, code: wire.OpGetData, path: path, watch: w})
	if err != nil {
		return nil, drivers.Stat{}, err
	}
	defer c.free(k)
	return k.bytes, k.stat, nil
}

// Set writes a node.
func (c *Conn) Set(ctx context.Context, path string, data []byte, version int32) (drivers.Stat, error) {
	k, err := c.do(ctx, request{op: drivers.OpSet, code: wire.OpSetData, path: path, data: data, version: version})
	if err != nil {
		return drivers.Stat{}, err
	}
	defer c.free(k)
	return k.stat, nil
}

// Children lists a node's children. The Seq of each is the number at the end of its name.
func (c *Conn) Children(ctx context.Context, path string, w drivers.Watch) ([]drivers.Child, error) {
	k, err := c.do(ctx, request{op: drivers.OpChildren, code: wire.OpGetChildren, path: path, watch: w})
	if err != nil {
		return nil, err
	}
	defer c.free(k)
	return k.children, nil
}

// Sync brings the server that this session is connected to up to date.
func (c *Conn) Sync(ctx context.Context, path string) error {
	return c.catchUp(ctx, request{op: drivers.OpSync, code: wire.OpSync, path: path})
}

// Flush is a sync of a path of its own. The server answers it when it has caught up with the
// leader. Before the answer it sends the notifications for all writes that it has applied.
func (c *Conn) Flush(ctx context.Context) error {
	return c.catchUp(ctx, request{op: drivers.OpFlush, code: wire.OpSync, path: wire.FlushPath})
}

// catchUp makes a sync, and repeats it as often as needed.
func (c *Conn) catchUp(ctx context.Context, r request) error {
	return c.ensemble.CatchUp(ctx, func() (int64, error) {
		k, err := c.do(ctx, r)
		if err != nil {
			return 0, err
		}
		defer c.free(k)
		return k.position, nil
	})
}

// simply makes a call that returns only an error.
func (c *Conn) simply(ctx context.Context, r request) error {
	k, err := c.do(ctx, r)
	if err == nil {
		c.free(k)
	}
	return err
}

// children reads a listing. All names are parts of one string: one allocation instead of one
// for each of thousands of names.
func children(d *wire.Decoder) []drivers.Child {
	all := make([]drivers.Child, d.Len(wire.LengthSize))
	text := string(d.Rest())
	for i := range all {
		length := len(d.Bytes())
		end := len(text) - len(d.Rest())
		name := text[end-length : end]
		all[i] = drivers.Child{Name: name, Seq: ensemble.Sequence(name)}
	}
	return all
}

func stat(d *wire.Decoder) drivers.Stat {
	var s wire.Stat
	s.Decode(d)
	return drivers.Stat{
		Version:   s.Version,
		Created:   s.Czxid,
		Modified:  s.Mzxid,
		Ephemeral: s.EphemeralOwner != 0,
	}
}
