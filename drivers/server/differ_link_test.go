package server_test

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers/wire"
)

// A link is one session's connection to a server, at the level of packets.
type link struct {
	t       testing.TB
	net     net.Conn
	session wire.ConnectResponse
}

// A packet is a reply or a notification.
type packet struct {
	wire.ReplyHeader
	body wire.Decoder
}

// connect opens a connection. With an ID it resumes that session.
func connect(t testing.TB, address string, q wire.ConnectRequest) *link {
	t.Helper()
	nc, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	l := &link{t: t, net: nc}
	t.Cleanup(func() { nc.Close() })
	l.send(q.Append(nil))
	d := wire.NewDecoder(l.payload())
	if l.session.Decode(&d); d.Err() != nil || len(d.Rest()) > 0 {
		t.Fatalf("malformed answer to a connect request: %+v", l.session)
	}
	l.session.Password = slices.Clone(l.session.Password)
	return l
}

// again resumes the session on a new connection.
func (l *link) again(address string, password []byte) *link {
	l.t.Helper()
	return connect(l.t, address, wire.ConnectRequest{Timeout: sessionTimeout, SessionID: l.session.SessionID,
		Password: password, ReadOnly: wire.ReadOnly{Present: true}})
}

const sessionTimeout = 10_000 // milliseconds

func (l *link) send(payload []byte) {
	l.t.Helper()
	b := append(wire.Begin(nil), payload...)
	wire.End(b, 0)
	if _, err := l.net.Write(b); err != nil {
		l.t.Fatal(err)
	}
}

// payload reads a packet.
func (l *link) payload() []byte {
	l.t.Helper()
	b, err := l.next()
	if err != nil {
		l.t.Fatal(err)
	}
	return b
}

func (l *link) next() ([]byte, error) {
	l.net.SetReadDeadline(time.Now().Add(10 * time.Minute)) // only a bug takes this long
	length := make([]byte, wire.LengthSize)
	if _, err := io.ReadFull(l.net, length); err != nil {
		return nil, err
	}
	b := make([]byte, binary.BigEndian.Uint32(length))
	_, err := io.ReadFull(l.net, b)
	return b, err
}

func (l *link) read() (p packet, ended bool) {
	l.t.Helper()
	b, err := l.next()
	if err != nil {
		if errors.Is(err, io.EOF) || isReset(err) {
			return p, true
		}
		l.t.Fatal(err)
	}
	p.body = wire.NewDecoder(b)
	p.Decode(&p.body)
	return p, false
}

// isReset reports a connection reset: a server may close a connection that has unread requests.
func isReset(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && !op.Timeout()
}
