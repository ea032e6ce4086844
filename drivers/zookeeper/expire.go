package zookeeper

import (
	"context"
	"fmt"
	"io"
	"net"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// Expire ends a session that was opened through this service, as its expiry
// would: the service removes it and its ephemeral nodes, and its Conn finds out
// by being turned away. It does so by taking the session over on a connection of
// its own and closing it there, and returns when the service knows of no such
// session any more.
func (s *Service) Expire(ctx context.Context, conn drivers.Conn) error {
	c, ok := conn.(*Conn)
	if !ok {
		return fmt.Errorf("expire: a %T is no session of %s", conn, s.name())
	}
	c.session.mu.Lock()
	session := c.session.granted
	c.session.mu.Unlock()
	for ctx.Err() == nil {
		// The Conn may take its session back just then.
		gone, err := s.closeSession(ctx, session)
		if err != nil {
			return fmt.Errorf("expire: %s: %w", s.name(), err)
		}
		if gone {
			return nil
		}
	}
	return fmt.Errorf("expire: %s: %w", s.name(), context.Cause(ctx))
}

// closeSession makes an attempt and tells whether there was no such session any
// more. It fails where the service cannot be reached.
func (s *Service) closeSession(ctx context.Context, session wire.ConnectResponse) (gone bool, err error) {
	nc, err := s.dial(ctx, s.servers[0])
	if err != nil {
		return false, err
	}
	defer nc.Close()
	defer context.AfterFunc(ctx, func() { nc.Close() })()
	return takeOverAndClose(nc, session), nil
}

// takeOverAndClose closes a session on a new connection and tells whether there
// was none any more. That it did close one, only the next attempt tells.
func takeOverAndClose(nc net.Conn, session wire.ConnectResponse) (gone bool) {
	granted, err := takeOver(nc, session)
	if err != nil {
		return false // hung up on, maybe since the session's own client was quicker
	}
	if granted.Timeout <= 0 {
		return true
	}
	if send(nc, wire.RequestHeader{Xid: 1, Op: wire.OpCloseSession}.Append(wire.Begin(nil))) == nil {
		io.Copy(io.Discard, nc) // until the server hangs up
	}
	return false
}

func takeOver(nc net.Conn, session wire.ConnectResponse) (granted wire.ConnectResponse, err error) {
	open := wire.ConnectRequest{Timeout: session.Timeout, SessionID: session.SessionID, Password: session.Password}
	if err := send(nc, open.Append(wire.Begin(nil))); err != nil {
		return granted, err
	}
	answer, err := receive(nc)
	if err != nil {
		return granted, err
	}
	d := wire.NewDecoder(answer)
	granted.Decode(&d)
	return granted, d.Err()
}
