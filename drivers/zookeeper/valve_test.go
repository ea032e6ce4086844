package zookeeper

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// valve dials TCP connections whose bytes it can hold back, which it can cut, and which it can
// refuse. It keeps the response that opened the session.
type valve struct {
	mu      sync.Mutex
	turned  sync.Cond
	frozen  bool // writes wait
	refused bool // dials fail
	dials   int
	conns   []net.Conn
	session wire.ConnectResponse
}

func newValve() *valve {
	v := new(valve)
	v.turned.L = &v.mu
	return v
}

var errRefused = errors.New("refused by the test")

func (v *valve) dial(ctx context.Context, address string) (net.Conn, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.dials++
	if v.refused {
		return nil, errRefused
	}
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	v.conns = append(v.conns, conn)
	return &valved{Conn: conn, valve: v}, nil
}

func (v *valve) set(frozen, refused bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.frozen, v.refused = frozen, refused
	v.turned.Broadcast()
}

// cut breaks the connection.
func (v *valve) cut() {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, c := range v.conns {
		c.Close()
	}
	v.conns = nil
}

func (v *valve) dialed() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.dials
}

// valved is one connection through the valve.
type valved struct {
	net.Conn
	valve *valve
	got   []byte // the first packet, until it is complete
}

func (c *valved) Write(p []byte) (int, error) {
	c.valve.mu.Lock()
	for c.valve.frozen {
		c.valve.turned.Wait()
	}
	c.valve.mu.Unlock()
	return c.Conn.Write(p)
}

func (c *valved) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if len(c.got) < 40 {
		c.got = append(c.got, p[:n]...)
		if len(c.got) >= 40 {
			d := wire.NewDecoder(c.got[4:])
			c.valve.mu.Lock()
			c.valve.session.Decode(&d)
			c.valve.mu.Unlock()
		}
	}
	return n, err
}

// through opens a session through a valve.
func (f *fixture) through(t *testing.T, o drivers.Options) (*Conn, *valve) {
	t.Helper()
	v := newValve()
	s := serviceOf(t, Config{Servers: []string{f.address}, Dial: v.dial})
	c, err := s.Dial(f.ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c.(*Conn), v
}

// expire ends the session from another connection while the session is disconnected, as a
// server does with a session that it has not heard from.
func (f *fixture) expire(t *testing.T, v *valve) {
	t.Helper()
	v.set(false, true)
	defer v.set(false, false)
	v.cut()
	v.mu.Lock()
	session := v.session
	v.mu.Unlock()
	conn, err := net.Dial("tcp", f.address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	b := wire.Begin(nil)
	b = wire.ConnectRequest{Timeout: session.Timeout, SessionID: session.SessionID, Password: session.Password}.Append(b)
	wire.End(b, 0)
	start := len(b)
	b = wire.RequestHeader{Xid: 1, Op: wire.OpCloseSession}.Append(wire.Begin(b))
	wire.End(b, start)
	if _, err := conn.Write(b); err != nil {
		t.Fatal(err)
	}
	for answer := make([]byte, 64); err == nil; { // until the server closes the connection
		_, err = conn.Read(answer)
	}
}
