package zookeeper

import (
	"context"
	"encoding/binary"
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
	session := c.session.tap.Session()
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
	stop := context.AfterFunc(ctx, func() { nc.Close() })
	defer stop()
	granted, err := resume(nc, session)
	if err != nil {
		return false, nil // hung up on: the Conn was quicker
	}
	if granted.Timeout <= 0 {
		return true, nil
	}
	closing := wire.RequestHeader{Xid: 1, Op: wire.OpCloseSession}.Append(wire.Begin(nil))
	wire.End(closing, 0)
	if _, err := nc.Write(closing); err == nil {
		io.Copy(io.Discard, nc) // until the server hangs up
	}
	return false, nil
}

// resume takes a session over.
func resume(nc net.Conn, session wire.ConnectResponse) (wire.ConnectResponse, error) {
	var granted wire.ConnectResponse
	packet := wire.ConnectRequest{
		Timeout: session.Timeout, SessionID: session.SessionID, Password: session.Password,
	}.Append(wire.Begin(nil))
	wire.End(packet, 0)
	if _, err := nc.Write(packet); err != nil {
		return granted, err
	}
	var length [wire.LengthSize]byte
	if _, err := io.ReadFull(nc, length[:]); err != nil {
		return granted, err
	}
	payload := make([]byte, min(binary.BigEndian.Uint32(length[:]), wire.MaxPacket))
	if _, err := io.ReadFull(nc, payload); err != nil {
		return granted, err
	}
	d := wire.NewDecoder(payload)
	granted.Decode(&d)
	return granted, d.Err()
}
