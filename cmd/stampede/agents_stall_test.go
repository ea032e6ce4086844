package main

import (
	"encoding/binary"
	"io"
	"net"
	"slices"
	"sync"
	"testing"
	"time"
)

// A stallingProxy is in front of a server. It stalls the connection by which the nth request of a kind comes: the
// server executes the request, and its answer waits until the test ends.
type stallingProxy struct {
	addr    string // of the proxy
	server  string
	ops     []int32
	stalled chan struct{} // closed when the server has executed the request
	ended   <-chan struct{}

	mu   sync.Mutex
	left int // requests until the one that stalls its connection
}

// startStalling starts a proxy that stalls at the nth request of one of the operations.
func startStalling(t *testing.T, server string, nth int, ops ...int32) *stallingProxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &stallingProxy{addr: l.Addr().String(), server: server, ops: ops, left: nth, stalled: make(chan struct{}), ended: t.Context().Done()}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			go p.join(near)
		}
	}()
	return p
}

// awaitStall waits until the server has executed the request.
func (p *stallingProxy) awaitStall(t *testing.T) {
	t.Helper()
	select {
	case <-p.stalled:
	case <-time.After(patience):
		t.Fatal("no connection has stalled")
	}
}

// join passes what the two sides of a connection say, until one of them ends it.
func (p *stallingProxy) join(near net.Conn) {
	defer near.Close()
	far, err := net.Dial("tcp", p.server)
	if err != nil {
		return
	}
	defer far.Close()
	stall := make(chan struct{}) // closed when this connection stalls
	go func() {
		defer near.Close()
		p.passAnswers(near, far, stall)
	}()
	p.passRequests(far, near, stall)
}

// passRequests passes the requests of a client, and closes stall before the one that stalls the connection.
func (p *stallingProxy) passRequests(to io.Writer, from io.Reader, stall chan struct{}) {
	for first := true; ; first = false {
		var size [4]byte
		if _, err := io.ReadFull(from, size[:]); err != nil {
			return
		}
		body := make([]byte, binary.BigEndian.Uint32(size[:]))
		if _, err := io.ReadFull(from, body); err != nil {
			return
		}
		// The first request opens the session. Others begin with their number and their operation.
		if !first && len(body) >= 8 && p.isNth(int32(binary.BigEndian.Uint32(body[4:]))) {
			close(stall)
		}
		if _, err := to.Write(append(size[:], body...)); err != nil {
			return
		}
	}
}

// isNth counts a request, and reports whether it is the one that stalls its connection.
func (p *stallingProxy) isNth(op int32) bool {
	if !slices.Contains(p.ops, op) {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left--
	return p.left == 0
}

// passAnswers passes the answers of the server. Once stall is closed they wait until the test ends.
func (p *stallingProxy) passAnswers(to io.Writer, from io.Reader, stall chan struct{}) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		select {
		case <-stall:
			close(p.stalled)
			<-p.ended
			return
		default:
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}
