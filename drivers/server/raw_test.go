package server

import (
	"encoding/binary"
	"io"
	"net"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers/wire"
)

// patience is how long a test waits for the server. Only a bug takes that long, even on a busy
// machine.
const patience = 10 * time.Minute

// A raw is the client's end of a connection, at the level of packets.
type raw struct {
	t *testing.T
	net.Conn
}

// A packet is a reply or a notification.
type packet struct {
	wire.ReplyHeader
	body wire.Decoder
}

func (p packet) event() (e wire.WatcherEvent) {
	e.Decode(&p.body)
	return e
}

// newServer returns a server that is closed at the end of the test.
func newServer(t *testing.T) *Server {
	s := New(Options{})
	t.Cleanup(s.Close)
	return s
}

// dialRaw opens an in-memory connection and sends nothing.
func dialRaw(t *testing.T, s *Server) *raw {
	t.Helper()
	nc, err := s.Dial("", "", 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	return &raw{t, nc}
}

// openRaw opens a connection with a new session.
func openRaw(t *testing.T, s *Server) *raw {
	t.Helper()
	r := dialRaw(t, s)
	if got := r.connect(wire.ConnectRequest{Timeout: 10_000}); got.SessionID == 0 {
		t.Fatal("no session")
	}
	return r
}

func (r *raw) connect(q wire.ConnectRequest) (a wire.ConnectResponse) {
	r.t.Helper()
	r.write(framed(q.Append(nil)))
	d := wire.NewDecoder(r.payload())
	if a.Decode(&d); d.Err() != nil {
		r.t.Fatal(d.Err())
	}
	return a
}

func framed(payload []byte) []byte {
	b := append(wire.Begin(nil), payload...)
	wire.End(b, 0)
	return b
}

func request(xid, op int32, body record) []byte {
	b := wire.RequestHeader{Xid: xid, Op: op}.Append(nil)
	if body != nil {
		b = body.Append(b)
	}
	return framed(b)
}

func (r *raw) write(b []byte) {
	r.t.Helper()
	if _, err := r.Write(b); err != nil {
		r.t.Fatal(err)
	}
}

func (r *raw) payload() []byte {
	r.t.Helper()
	r.SetReadDeadline(time.Now().Add(patience))
	b := make([]byte, wire.LengthSize)
	if _, err := io.ReadFull(r, b); err != nil {
		r.t.Fatal(err)
	}
	b = make([]byte, binary.BigEndian.Uint32(b))
	if _, err := io.ReadFull(r, b); err != nil {
		r.t.Fatal(err)
	}
	return b
}

func (r *raw) read() (p packet) {
	r.t.Helper()
	p.body = wire.NewDecoder(r.payload())
	p.Decode(&p.body)
	return p
}

// ask sends a request and returns the next packet.
func (r *raw) ask(xid, op int32, body record) packet {
	r.t.Helper()
	r.write(request(xid, op, body))
	return r.read()
}

func (r *raw) wantReply(p packet, xid int32, err wire.Err) {
	r.t.Helper()
	if p.Xid != xid || p.Err != err {
		r.t.Errorf("got xid %d, error %d; want xid %d, error %d", p.Xid, p.Err, xid, err)
	}
}

// wantEnd checks that the server closes the connection without sending another byte.
func (r *raw) wantEnd() {
	r.t.Helper()
	r.SetReadDeadline(time.Now().Add(patience))
	if b, err := io.ReadAll(r); len(b) > 0 || err != nil {
		r.t.Errorf("read %d bytes, %v; want the end", len(b), err)
	}
}

func open(path string, flags int32) wire.CreateRequest {
	return wire.CreateRequest{Path: path, ACL: []wire.ACL{wire.OpenACL()}, Flags: flags}
}
