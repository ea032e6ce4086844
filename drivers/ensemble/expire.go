package ensemble

import (
	"context"
	"fmt"
	"io"
	"math"
	"net"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// Close does nothing: the service was given by addresses.
func (e *Ensemble) Close() error { return nil }

// Expire ends a session as its expiry would: the service removes the session and its ephemeral
// nodes, and its client finds out when the service rejects it. Expire takes the session over
// on a new connection and closes it there. It returns when the session no longer exists at the
// service.
func (e *Ensemble) Expire(ctx context.Context, conn drivers.Conn) error {
	c, ok := conn.(Granter)
	if !ok {
		return fmt.Errorf("expire: a %T is no session of %s", conn, e.Name())
	}
	if err := EndSession(ctx, e.Servers, e.connect, c.Granted()); err != nil {
		return fmt.Errorf("expire: %s: %w", e.Name(), err)
	}
	// ZooKeeper may have accepted the client's connection while it closed the session. It drops all
	// that comes on that one, unanswered. On its next connection the client learns the truth.
	if cutter, ok := drivers.Capability[drivers.Cutter](conn); ok {
		cutter.Cut()
	}
	return nil
}

// EndSession takes a session over and closes it, at one server after the other, until one says that it does not exist, or
// none can be reached. Dial connects to a server.
func EndSession(ctx context.Context, servers []string, dial func(ctx context.Context, server string) (net.Conn, error), session wire.ConnectResponse) error {
	unreached := 0 // consecutive servers that could not be reached
	for try := 0; ctx.Err() == nil; try++ {
		// The client may take its session back at the same time.
		gone := false
		err := onConnection(ctx, dial, servers[try%len(servers)], func(nc net.Conn) error {
			gone = TakeOver(nc, session)
			return nil
		})
		switch {
		case gone:
			return nil
		case err == nil:
			unreached = 0
		default:
			if unreached++; unreached == len(servers) {
				return err
			}
		}
	}
	return context.Cause(ctx)
}

// expiryTime bounds the attempt at one server, whose process may be stopped.
const expiryTime = 2 * time.Second

// onConnection calls do with a new connection to the server, which it closes afterwards or when expiryTime
// is over.
func onConnection(ctx context.Context, dial func(context.Context, string) (net.Conn, error), server string, do func(net.Conn) error) error {
	ctx, cancel := context.WithTimeout(ctx, expiryTime)
	defer cancel()
	nc, err := dial(ctx, server)
	if err != nil {
		return err
	}
	defer nc.Close()
	defer context.AfterFunc(ctx, func() { nc.Close() })()
	return do(nc)
}

// TakeOver closes a session on a new connection and reports whether the session already no
// longer existed. Only the next attempt shows whether this one closed it.
func TakeOver(nc net.Conn, session wire.ConnectResponse) (gone bool) {
	granted, err := reopen(nc, session)
	if err != nil {
		return false // the server closed the connection, maybe because the client reconnected first
	}
	if granted.Timeout <= 0 {
		return true
	}
	if Send(nc, wire.RequestHeader{Xid: 1, Op: wire.OpCloseSession}.Append(wire.Begin(nil))) == nil {
		io.Copy(io.Discard, nc) // until the server closes the connection
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

// Receive reads the payload of a packet.
func Receive(conn net.Conn) ([]byte, error) {
	length := make([]byte, wire.LengthSize)
	if _, err := io.ReadFull(conn, length); err != nil {
		return nil, err
	}
	d := wire.NewDecoder(length)
	size := d.Int()
	if size < 0 || size > wire.MaxPacket {
		return nil, wire.ErrMalformed
	}
	payload := make([]byte, size)
	_, err := io.ReadFull(conn, payload)
	return payload, err
}

// Send completes and sends the packet that fills the buffer.
func Send(conn net.Conn, packet []byte) error {
	wire.End(packet, 0)
	_, err := conn.Write(packet)
	return err
}

// digits is the minimum length of the suffix of a sequential node: the parent's counter, an
// int32 that wraps around, formatted as %010d.
const digits = 10

// Sequence returns the number in the suffix of a name, or NoSeq if there is none. After the
// wrap the number is negative, and its sign is part of the suffix. A hyphen right before the
// digits is that sign if there are fewer than ten digits, if they are too large for a positive
// number, or if there is another hyphen before it. Otherwise the hyphen belongs to the name,
// since names often end in one.
func Sequence(name string) int64 {
	if len(name) < digits {
		return drivers.NoSeq
	}
	prefix, suffix := name[:len(name)-digits], name[len(name)-digits:]
	if suffix[0] == '-' {
		if n, ok := number(suffix[1:]); ok {
			return -n
		}
		return drivers.NoSeq
	}
	n, ok := number(suffix)
	switch {
	case !ok:
		return drivers.NoSeq
	case n > math.MaxInt32 && !strings.HasSuffix(prefix, "-"), n > -math.MinInt32:
		return drivers.NoSeq
	case n > math.MaxInt32, n >= 1e9 && strings.HasSuffix(prefix, "--"):
		return -n
	}
	return n
}

func number(s string) (n int64, ok bool) {
	for _, d := range []byte(s) {
		if d < '0' || d > '9' {
			return 0, false
		}
		n = n*10 + int64(d-'0')
	}
	return n, true
}
