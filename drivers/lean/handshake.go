package lean

import (
	"bytes"
	"fmt"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/ensemble"
	"github.com/stampede-bench/stampede/drivers/wire"
)

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
