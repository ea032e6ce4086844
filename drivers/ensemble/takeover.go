package ensemble

import (
	"context"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/stampede-bench/stampede/drivers/wire"
)

// Expire ends a session as its expiry would: the service removes it and its
// ephemeral nodes, and its client finds out by being turned away. It does so by
// taking the session over on a connection of its own and closing it there, and
// returns when the service knows of no such session any more.
func (e *Ensemble) Expire(ctx context.Context, session wire.ConnectResponse) error {
	unreached := 0 // servers, one after the other
	for try := 0; ctx.Err() == nil; try++ {
		// The client may take its session back just then.
		gone, err := e.closeSession(ctx, e.Servers[try%len(e.Servers)], session)
		switch {
		case gone:
			return nil
		case err == nil:
			unreached = 0
		default:
			if unreached++; unreached == len(e.Servers) {
				return fmt.Errorf("expire: %s: %w", e.Name(), err)
			}
		}
	}
	return fmt.Errorf("expire: %s: %w", e.Name(), context.Cause(ctx))
}

// expiryTime bounds the attempt at one server, which may be stopped.
const expiryTime = 2 * time.Second

// closeSession makes an attempt and tells whether there was no such session any
// more. It fails where the server cannot be reached.
func (e *Ensemble) closeSession(ctx context.Context, server string, session wire.ConnectResponse) (gone bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, expiryTime)
	defer cancel()
	nc, err := e.connect(ctx, server)
	if err != nil {
		return false, err
	}
	defer nc.Close()
	defer context.AfterFunc(ctx, func() { nc.Close() })()
	return TakeOver(nc, session), nil
}

// TakeOver closes a session on a new connection and tells whether there was none
// any more. That it did close one, only the next attempt tells.
func TakeOver(nc net.Conn, session wire.ConnectResponse) (gone bool) {
	granted, err := reopen(nc, session)
	if err != nil {
		return false // hung up on, maybe since the session's own client was quicker
	}
	if granted.Timeout <= 0 {
		return true
	}
	if Send(nc, wire.RequestHeader{Xid: 1, Op: wire.OpCloseSession}.Append(wire.Begin(nil))) == nil {
		io.Copy(io.Discard, nc) // until the server hangs up
	}
	return false
}

func reopen(nc net.Conn, session wire.ConnectResponse) (granted wire.ConnectResponse, err error) {
	open := wire.ConnectRequest{Timeout: session.Timeout, SessionID: session.SessionID, Password: session.Password}
	if err := Send(nc, open.Append(wire.Begin(nil))); err != nil {
		return granted, err
	}
	answer, err := Receive(nc)
	if err != nil {
		return granted, err
	}
	d := wire.NewDecoder(answer)
	granted.Decode(&d)
	return granted, d.Err()
}
