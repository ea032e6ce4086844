package server

import (
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stampede-bench/stampede/drivers/wire"
	"github.com/stampede-bench/stampede/internal/bubble"
)

// serveSockets serves on the loopback interface until the test ends, and returns a function that
// dials the server.
func serveSockets(t *testing.T, s *Server) (dial func() *raw) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	t.Cleanup(func() {
		s.Close()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return func() *raw {
		t.Helper()
		nc, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { nc.Close() })
		return &raw{t, nc}
	}
}

// A flood of connections from one address is refused beyond the limit, while existing clients are
// served as before.
func TestFloodOfSockets(t *testing.T) {
	const limit, flood = 20, 200
	s := New(Options{MaxPerHost: limit})
	dial := serveSockets(t, s)
	bystander := dial()
	bystander.connect(wire.ConnectRequest{Timeout: 10_000})
	ended := make(chan error, flood)
	for i := range int32(flood) {
		r := dial()
		go func() {
			_, err := r.Read(make([]byte, 1))
			ended <- err
		}()
		bystander.wantReply(bystander.ask(i, wire.OpExists, wire.PathWatch{Path: "/"}), i, wire.OK)
	}
	for range flood - (limit - 1) {
		if err := <-ended; err == nil {
			t.Error("a socket too many was told something")
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.conns); n != limit {
		t.Errorf("%d connections, want %d", n, limit)
	}
}

// Without a limit, the server survives a flood of connections that never open a session: it closes
// each at the handshake timeout, whatever the client has sent so far.
func TestFloodOfSilence(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s := newServer(t)
		bystander := openRaw(t, s)
		hello := framed(wire.ConnectRequest{Timeout: 10_000}.Append(nil))
		for i := range 1000 {
			r := dialRaw(t, s)
			r.write(hello[:i%len(hello)])
		}
		bystander.wantReply(bystander.ask(1, wire.OpExists, wire.PathWatch{Path: "/"}), 1, wire.OK)
		time.Sleep(handshakeTime)
		bystander.wantReply(bystander.ask(2, wire.OpExists, wire.PathWatch{Path: "/"}), 2, wire.OK)
		synctest.Wait()
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.conns) != 1 || len(s.sessions) != 1 {
			t.Errorf("%d connections and %d sessions, want the bystander's", len(s.conns), len(s.sessions))
		}
	})
}

// A client that sends its handshake byte by byte gets no extra time.
func TestHelloByteByByte(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		const pause = handshakeTime * 2 / 7 // no multiple of it equals the timeout
		r := dialRaw(t, newServer(t))
		said := 0
		for _, b := range framed(wire.ConnectRequest{Timeout: 10_000}.Append(nil)) {
			if _, err := r.Write([]byte{b}); err != nil {
				break
			}
			said++
			time.Sleep(pause)
		}
		if want := int(handshakeTime/pause) + 1; said != want {
			t.Errorf("%d bytes were taken, want %d", said, want)
		}
	})
}

// A client that has closed its sending side receives all replies, and its session can resume on
// another connection.
func TestHalfClosedSocket(t *testing.T) {
	dial := serveSockets(t, New(Options{}))
	r := dial()
	session := r.connect(wire.ConnectRequest{Timeout: 10_000})
	const requests = 100
	for i := range int32(requests) {
		r.write(request(i, wire.OpExists, wire.PathWatch{Path: "/"}))
	}
	if err := r.Conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	for i := range int32(requests) {
		r.wantReply(r.read(), i, wire.OK)
	}
	r.wantEnd()
	again := dial().connect(wire.ConnectRequest{Timeout: 10_000, SessionID: session.SessionID, Password: session.Password})
	if again.SessionID != session.SessionID {
		t.Errorf("session %x, want %x again", again.SessionID, session.SessionID)
	}
}
