package pipeline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/ensemble"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// connect tries the servers in turn until one takes the session, the context
// ends, or it is of no use to try further. The first attempts are made at once;
// when every server has failed, a pause goes before each.
func (c *Conn) connect(ctx context.Context) (*line, error) {
	servers := c.ensemble.Servers
	var last error
	for tries := 0; ; tries++ {
		if !pause(ctx, ensemble.Backoff(tries/len(servers))) {
			return nil, c.ensemble.Unreachable(context.Cause(ctx), last)
		}
		c.turn = (c.turn + 1) % len(servers)
		l, err := c.attempt(ctx, servers[c.turn])
		switch {
		case err == nil:
			return l, nil
		case ensemble.Refusal(err), errors.Is(err, errExpired), errors.Is(err, drivers.ErrRefused):
			return nil, c.ensemble.Unreachable(err, nil)
		case last == nil || ctx.Err() == nil:
			last = err
		}
	}
}

// pause tells whether the context has outlived it.
func pause(ctx context.Context, d time.Duration) bool {
	if d > 0 {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C:
		case <-ctx.Done():
		}
	}
	return ctx.Err() == nil
}

// timeout is how long the service keeps the session, or is asked to.
func (c *Conn) timeout() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Duration(c.session.Timeout) * time.Millisecond
}

// attempt connects to a server and takes the session up there. Of the time that
// the session has left, each server gets its share, and there is some to spare.
func (c *Conn) attempt(ctx context.Context, address string) (*line, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout()/time.Duration(len(c.ensemble.Servers)+1))
	defer cancel()
	nc, err := c.ensemble.Connect(ctx, address)
	if err != nil {
		return nil, err
	}
	l := newLine(c, nc)
	stop := context.AfterFunc(ctx, func() { nc.Close() })
	err = l.open()
	if err == nil {
		err = l.introduce()
	}
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		l.cut()
		return nil, fmt.Errorf("%s: %w", address, err)
	}
	return l, nil
}

// open opens the session, or takes it up again.
func (l *line) open() error {
	c := l.conn
	r := wire.ConnectRequest{
		LastZxid: c.position, Timeout: int32(c.options.SessionTimeout.Milliseconds()),
		SessionID: c.session.SessionID, Password: c.session.Password,
	}
	packet := r.Append(wire.Begin(nil))
	wire.End(packet, 0)
	l.mu.Lock()
	l.tell(drivers.Message{Kind: drivers.Request, Op: drivers.OpOpen, Size: len(packet)})
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

// granted takes the server's answer.
func (l *line) granted(s wire.ConnectResponse, size int) error {
	m := drivers.Message{Kind: drivers.Reply, Op: drivers.OpOpen, Size: size}
	if s.Timeout <= 0 {
		m.Err = drivers.ErrSessionLost
	}
	if err := l.hear(m); err != nil {
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

// introduce tells the server who we are, before anything else is asked of it.
// ZooKeeper does not say whether it knows the user: what the user may not do is
// refused.
func (l *line) introduce() error {
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
	if err := l.hear(replyTo(k, h, payload)); err != nil {
		return err
	}
	l.done()
	if h.Err != wire.OK {
		return fmt.Errorf("give credentials: %w (%w)", h.Err.Sentinel(), h.Err)
	}
	return nil
}
