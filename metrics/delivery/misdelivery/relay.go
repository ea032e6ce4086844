package misdelivery

import (
	"net"
	"sync"
	"sync/atomic"
	"testing"
)

// A Relay lies between one client and the servers of a service.
type Relay struct {
	fault  Fault
	forget bool
	lines  atomic.Int64 // connections of sessions and watch streams so far

	mu     sync.Mutex
	broken bool
	conns  map[net.Conn]struct{}
}

// New returns a relay with a fault.
func New(f Fault) *Relay { return &Relay{fault: f, conns: map[net.Conn]struct{}{}} }

// Forget makes the servers forget watches when the client moves to a new connection: ZooKeeper does not arm them
// again, and etcd begins them from now on.
func (r *Relay) Forget() *Relay {
	r.forget = true
	return r
}

// Break closes the client's connections. Until the relay is mended, it accepts none.
func (r *Relay) Break() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.broken = true
	for c := range r.conns {
		c.Close()
	}
}

// Mend accepts connections again.
func (r *Relay) Mend() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.broken = false
}

// listen accepts the client's connections to a server for as long as the test runs, and refuses them while the server
// does.
func (r *Relay) listen(t testing.TB, server string) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return &listener{l, r, server}
}

type listener struct {
	net.Listener
	relay  *Relay
	server string
}

// Accept waits for a connection that the server would accept too.
func (l *listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if probe, err := net.Dial("tcp", l.server); err == nil {
			probe.Close()
			if l.relay.keep(c) {
				return &conn{c, l.relay}, nil
			}
		}
		c.Close()
	}
}

func (r *Relay) keep(c net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.broken {
		r.conns[c] = struct{}{}
	}
	return !r.broken
}

type conn struct {
	net.Conn
	relay *Relay
}

// Close also forgets the connection.
func (c *conn) Close() error {
	c.relay.mu.Lock()
	delete(c.relay.conns, c.Conn)
	c.relay.mu.Unlock()
	return c.Conn.Close()
}
