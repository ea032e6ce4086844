package lean

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/ensemble"
	"github.com/stampede-bench/stampede/drivers/greeting"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// connect tries the servers in turn until one accepts the session, the context ends, or
// further attempts are useless. The first attempts are made immediately. When every server has
// failed, connect pauses before each attempt.
func (c *Conn) connect(ctx context.Context) (*link, error) {
	servers := c.ensemble.Servers
	var last error
	for tries := 0; ; tries++ {
		if !ensemble.Pause(ctx, ensemble.Backoff(tries/len(servers))) {
			return nil, c.ensemble.Unreachable(context.Cause(ctx), last)
		}
		c.turn = (c.turn + 1) % len(servers)
		l, err := c.attempt(ctx, servers[c.turn])
		switch {
		case err == nil:
			return l, nil
		case greeting.Final(err), errors.Is(err, errExpired), errors.Is(err, drivers.ErrRefused):
			return nil, c.ensemble.Unreachable(err, nil)
		case last == nil || !ended(ctx):
			last = err
		}
	}
}

// ended reports whether the context has ended, or its deadline has passed: a connection that the deadline cuts off
// may fail before the context says so.
func ended(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ctx.Err() != nil || ok && !time.Now().Before(deadline)
}

// timeout returns how long the service keeps the session; before that is granted, the
// requested timeout.
func (c *Conn) timeout() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Duration(c.session.Timeout) * time.Millisecond
}

// attempt connects to a server and opens or resumes the session there.
func (c *Conn) attempt(ctx context.Context, address string) (*link, error) {
	o := c.options
	o.SessionTimeout = c.timeout()
	ctx, cancel := context.WithTimeout(ctx, c.ensemble.Share(o))
	defer cancel()
	nc, err := c.ensemble.Connect(ctx, address, c.options.Through)
	if err != nil {
		return nil, err
	}
	l := newLink(c, nc)
	stop := context.AfterFunc(ctx, func() { nc.Close() })
	err = l.open()
	if err == nil {
		err = l.introduce()
	}
	if !stop() && !errors.Is(err, drivers.ErrHungUp) { // closing the connection has cut err short
		err = drivers.ErrSilent
	}
	if err != nil {
		l.cut()
		return nil, fmt.Errorf("%s: %w", address, err)
	}
	return l, nil
}

// open opens the session, or resumes it.
func (l *link) open() error {
	c := l.conn
	r := wire.ConnectRequest{
		LastZxid: c.position, Timeout: int32(c.options.SessionTimeout.Milliseconds()),
		SessionID: c.session.SessionID, Password: c.session.Password,
	}
	packet := r.Append(wire.Begin(nil))
	wire.End(packet, 0)
	l.mu.Lock()
	l.report(drivers.Message{Kind: drivers.Request, Op: drivers.OpOpen, Size: len(packet)})
	l.mu.Unlock()
	if _, err := l.net.Write(packet); err != nil {
		return err
	}
	payload, err := l.in.Next()
	if err != nil {
		return err
	}
	d := wire.NewDecoder(payload)
	var granted wire.ConnectResponse
	granted.Decode(&d)
	if err := d.Err(); err != nil {
		return err
	}
	return l.granted(granted, wire.LengthSize+len(payload))
}

// granted processes the server's answer.
func (l *link) granted(s wire.ConnectResponse, size int) error {
	m := drivers.Message{Kind: drivers.Reply, Op: drivers.OpOpen, Size: size}
	if s.Timeout <= 0 {
		m.Err = drivers.ErrSessionLost
	}
	if err := l.reportReply(m); err != nil {
		return err
	}
	if s.Timeout <= 0 {
		return errExpired
	}
	s.Password = bytes.Clone(s.Password)
	l.conn.mu.Lock()
	defer l.conn.mu.Unlock()
	l.conn.session = s
	return nil
}

// introduce sends the credentials, before any other request. ZooKeeper does not say whether it
// knows the user: it refuses the operations that the user is not permitted.
func (l *link) introduce() error {
	user := l.conn.ensemble.User
	if user.IsZero() {
		return nil
	}
	auth := wire.AuthRequest{Scheme: ensemble.Scheme, Auth: user.Digest()}
	k := l.conn.newCall(request{op: drivers.OpOther, code: wire.OpAuth, data: auth.Append(nil)})
	defer l.conn.free(k)
	k.server = ""
	l.mu.Lock()
	l.add(k)
	packet := l.out
	l.out = nil
	l.mu.Unlock()
	if _, err := l.net.Write(packet); err != nil {
		return err
	}
	payload, err := l.in.Next()
	if err != nil {
		return err
	}
	d := wire.NewDecoder(payload)
	var h wire.ReplyHeader
	if h.Decode(&d); d.Err() != nil || h.Xid != k.xid {
		return errOrder
	}
	if err := l.reportReply(replyTo(k, h, payload)); err != nil {
		return err
	}
	l.done()
	if h.Err != wire.OK {
		return fmt.Errorf("give credentials: %w (%w)", h.Err.Sentinel(), h.Err)
	}
	return nil
}

// Begin makes a call. The request is sent with the next ones, or when a caller awaits a call
// that is unanswered; see [drivers.Pipeliner].
func (c *Conn) Begin(ctx context.Context, r drivers.Call) drivers.Pending {
	asked := request{op: r.Op, code: codeOf(r.Op), path: r.Path, data: r.Data, version: r.Version, mode: r.Mode}
	if r.Op == drivers.OpMulti {
		asked = c.transaction(r.Sets)
	}
	k, err := c.begin(ctx, &asked, (*link).gather)
	if err != nil {
		return drivers.Failed(err)
	}
	k.conn = c
	return k
}

func codeOf(op drivers.Op) int32 {
	switch op {
	case drivers.OpCreate:
		return wire.OpCreate
	case drivers.OpDelete:
		return wire.OpDelete
	case drivers.OpSet:
		return wire.OpSetData
	case drivers.OpChildren:
		return wire.OpGetChildren
	}
	return wire.OpGetData
}

// Await waits for the answer to the call; see [drivers.Pending].
func (k *call) Await(ctx context.Context) (a drivers.Answer) {
	c, op := k.conn, k.op
	if !k.ready() {
		runtime.Gosched() // so that the reader first completes all calls whose replies have arrived
		if !k.ready() {
			c.flush()
		}
	}
	if a.Err = c.await(ctx, k); a.Err == nil {
		a.Stat, a.Stats, a.Children = k.stat, k.stats, len(k.children)
		c.free(k)
	} else if op == drivers.OpCreate {
		a.Err = c.ensemble.User.ExplainUnsupported(a.Err)
	}
	return a
}

// ready reports whether the call has been answered.
func (k *call) ready() bool { return len(k.done) > 0 }

// flush sends the calls that were begun.
func (c *Conn) flush() {
	if l := c.link.Load(); l != nil {
		l.flush()
	}
}

// closeTime is how long Close tries to reach the service.
const closeTime = 2 * time.Second

// Done is closed when the session is lost or closed.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Close ends the session: first for this client, as when it is lost, then at the service. If
// the service cannot be reached within two seconds, its ephemeral nodes stay until the session
// expires.
func (c *Conn) Close() error {
	c.shut(drivers.SessionClosed)
	late := time.NewTimer(closeTime)
	defer late.Stop()
	select {
	case <-c.gone:
	case <-late.C:
		c.abort()
		<-c.gone
	}
	return nil
}

// shut ends the session and sends a close request, on this connection or the next.
func (c *Conn) shut(why drivers.State) {
	c.end(why)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing {
		return
	}
	c.closing = true
	if c.live != nil {
		c.live.post(c.closeCall())
	}
}

func (c *Conn) closeCall() *call {
	k := c.newCall(request{op: drivers.OpClose, code: wire.OpCloseSession})
	k.server = ""
	return k
}

// abort stops trying to reach the service.
func (c *Conn) abort() {
	c.cancel()
	c.Cut()
}

// Cut cuts the connection, if there is one; see [drivers.Cutter].
func (c *Conn) Cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.live != nil {
		c.live.net.Close()
	}
}

// end ends the session for this client: it calls OnState, closes Done and fires the watches.
func (c *Conn) end(why drivers.State) {
	c.mu.Lock()
	if c.over {
		c.mu.Unlock()
		return
	}
	c.over = true
	c.link.Store(nil)
	c.changed(why)
	close(c.done)
	c.rouse()
	c.mu.Unlock()
	c.watches.end()
}

func (c *Conn) lost() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}
