package native

import (
	"crypto/tls"
	"net"
	"time"

	"github.com/stampede-bench/stampede/drivers/native/tree"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// A conn is one connection. What is not its own goroutines' is guarded by the
// server's lock.
type conn struct {
	server *Server
	socket net.Conn
	net    net.Conn // the socket, or TLS over it
	host   string   // the client's address
	in     wire.Frames
	out    *outbox

	session *session // nil before it is established, and after it is left
	watcher tree.Watcher
	who     []tree.Identity // in place of which a new list is put, never a longer one
	traffic traffic
	packets []byte // queued under the lock that is being held
	unasked int    // bytes of notifications among them
	dropped bool   // nothing that arrives is heeded any more
	wrote   int64  // zxid of its last write
	waits   bool   // for the disk, before its next write
	held    []byte // a write that was read and has to wait for the disk
}

const (
	// handshakeTime is how long a connection may take to say what it wants.
	handshakeTime = 10 * time.Second
	// farewellTime is how long a client may take to read its last packets.
	farewellTime = 5 * time.Second
	// idleBuffer is the size in bytes of the largest buffer for requests that a
	// connection keeps.
	idleBuffer = 64 << 10
	// workPerHold is how much work a batch does before it lets others have the
	// lock. A request, a name or node looked at, and a watch that fires are one
	// each.
	workPerHold = 4096
)

// newConn is over TLS if there is a configuration.
func newConn(s *Server, nc net.Conn, cfg *tls.Config) *conn {
	c := &conn{server: s, socket: nc, net: nc, out: newOutbox()}
	if cfg != nil {
		c.net = tls.Server(nc, cfg)
	}
	c.in = wire.NewFrames(c.net, s.maxPacket, idleBuffer)
	c.host = host(nc)
	c.who = []tree.Identity{c.address()}
	c.traffic.opened = time.Now()
	c.watcher.Notify = c.notify
	return c
}

// send writes what is queued until there is no more, and hangs up.
func (c *conn) send() {
	c.out.sendTo(c.net, c.server.await)
	c.net.Close()
}

// receive does what the client asks until it leaves or is dropped.
func (c *conn) receive() {
	if c.shakeHands() {
		for c.serveBatch() {
		}
	}
	c.server.mu.Lock()
	c.leave()
	c.server.forget(c)
	c.server.unlock()
	c.net.SetWriteDeadline(time.Now().Add(farewellTime))
	c.out.end()
}

// shakeHands reports whether a session was established.
func (c *conn) shakeHands() bool {
	c.net.SetDeadline(time.Now().Add(handshakeTime))
	if c.encrypt() != nil {
		return false
	}
	word, err := c.in.Head()
	if err != nil || c.answerWord(word) {
		return false
	}
	payload, err := c.in.Next()
	if err != nil || !c.answerConnect(payload) {
		return false
	}
	return c.net.SetDeadline(time.Time{}) == nil
}

// encrypt makes the TLS handshake on a connection that is to have one, and takes
// the subject of the client's certificate for its identity.
func (c *conn) encrypt() error {
	encrypted, ok := c.net.(*tls.Conn)
	if !ok {
		return nil
	}
	if err := encrypted.Handshake(); err != nil {
		return err
	}
	chain := encrypted.ConnectionState().PeerCertificates
	if len(chain) == 0 {
		return nil
	}
	subject, err := subjectName(chain[0].RawSubject)
	if err != nil {
		return err
	}
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	c.authenticate(tree.Identity{Scheme: tree.X509, ID: subject})
	return nil
}

// serveBatch waits for a request and serves it, with those that arrived behind
// it, under one lock, until that has taken a certain amount of work. It reports
// whether there may be more.
func (c *conn) serveBatch() bool {
	c.out.roomy()
	payload, err := c.next()
	if err != nil {
		return false
	}
	began := time.Now()
	s := c.server
	c.lockFor(payload)
	defer s.unlock()
	s.work = 0
	for {
		if c.dropped {
			return false
		}
		s.stats.received++
		c.serve(payload, began)
		if !c.in.Ready() || len(c.packets) > crowded || s.work >= workPerHold {
			break
		}
		if payload, err = c.in.Next(); err != nil {
			return false
		}
		if c.hasToWait(payload) {
			c.held = payload
			break
		}
	}
	if c.session != nil {
		s.heardOf(c.session)
	}
	took := time.Since(began)
	s.stats.took(took)
	c.traffic.took(began, took)
	return !c.dropped
}

// next returns the request that was held, or waits for one.
func (c *conn) next() (payload []byte, err error) {
	if payload, c.held = c.held, nil; payload != nil {
		return payload, nil
	}
	return c.in.Next()
}

// leave parts the connection from its session and its watches, so that nothing
// more happens on behalf of the one or by the other.
func (c *conn) leave() {
	c.dropped = true
	c.server.watches.Forget(&c.watcher)
	if c.session != nil {
		c.session.conn, c.session = nil, nil
	}
}

// drop leaves and hangs up at once. A farewell by TLS could wait for the client.
func (c *conn) drop() {
	c.leave()
	c.socket.Close()
}
