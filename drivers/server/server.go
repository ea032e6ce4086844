package server

import (
	"cmp"
	"crypto/tls"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/drivers/server/certificates"
	"github.com/stampede-bench/stampede/drivers/server/replica"
	"github.com/stampede-bench/stampede/drivers/server/stats"
	"github.com/stampede-bench/stampede/drivers/server/tree"
	"github.com/stampede-bench/stampede/drivers/server/wal"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// Options configure a server. The zero Options are the defaults.
type Options struct {
	// Tick is the unit of session timeouts: sessions expire on a tick. 0 means DefaultTick.
	Tick time.Duration
	// MinTimeout and MaxTimeout are the bounds of session timeouts. 0 means 2 and 20 ticks.
	MinTimeout, MaxTimeout time.Duration
	// MaxSessions limits the number of open sessions; 0 means no limit.
	MaxSessions int
	// MaxPacket is the largest request in bytes; 0 means [wire.MaxPacket].
	MaxPacket int
	// Words are the enabled four-letter words, a subset of [fourletter.Names]; nil enables all.
	Words []string
	// MaxPerHost limits the number of connections from one address; 0 means no limit.
	MaxPerHost int
	// SuperDigest is the [Digest] of the superuser's credentials; empty means that there is no
	// superuser.
	SuperDigest string
	// Journal holds the state and records every change of it; nil keeps the state in memory only.
	// The journal must stay open for longer than the server. If the journal fails, the server shuts
	// down.
	Journal *wal.Journal
}

// DefaultTick is the tick of Options whose Tick is 0. It is also ZooKeeper's default.
const DefaultTick = 2 * time.Second

// A Server is a server that is compatible with ZooKeeper, alone or a member of an ensemble.
type Server struct {
	tick        time.Duration
	timeouts    [2]time.Duration // the shortest and the longest
	maxSessions int
	maxPacket   int
	maxPerHost  int
	words       []string // nil means all
	superDigest string
	journal     *wal.Journal // nil if the state is in memory only
	start       time.Time
	done        chan struct{}  // closed by Close
	live        sync.WaitGroup // what Close waits for
	ensemble    *ensemble      // nil if the server is alone

	mu        sync.Mutex // guards all below
	tree      *tree.Tree
	watches   *tree.Watches
	sessions  map[int64]*session
	lastID    int64 // the latest session ID
	conns     map[*conn]struct{}
	perHost   map[string]int        // connections
	listeners map[net.Listener]bool // true if connections begin with a TLS handshake
	queued    []*conn               // connections with queued packets
	work      int                   // done under the lock since the batch began, see workPerHold
	stats     stats.Counters
	closed    bool
}

// New returns a server that is ready to serve. It runs until Close.
func New(o Options) *Server {
	s := prepare(o)
	if s.journal != nil {
		s.restore()
		s.live.Go(s.endWithJournal)
		s.live.Go(func() { s.keepSnapshots(s.journal.Due(), s.saveSnapshot) })
	}
	s.live.Go(s.keepExpiring)
	return s
}

// prepare returns a server without goroutines and without restored state.
func prepare(o Options) *Server {
	now := time.Now()
	s := &Server{
		tick:        cmp.Or(o.Tick, DefaultTick),
		maxSessions: o.MaxSessions,
		maxPacket:   cmp.Or(o.MaxPacket, wire.MaxPacket),
		maxPerHost:  o.MaxPerHost,
		words:       o.Words,
		superDigest: o.SuperDigest,
		journal:     o.Journal,
		start:       now,
		done:        make(chan struct{}),
		tree:        tree.New(),
		watches:     tree.NewWatches(),
		sessions:    map[int64]*session{},
		lastID:      firstSessionID(now),
		conns:       map[*conn]struct{}{},
		perHost:     map[string]int{},
		listeners:   map[net.Listener]bool{},
	}
	s.timeouts = [2]time.Duration{cmp.Or(o.MinTimeout, 2*s.tick), cmp.Or(o.MaxTimeout, 20*s.tick)}
	return s
}

// unlock passes the queued packets to the connections' outboxes and releases the lock. In an ensemble
// it also passes on what the member wants sent and written.
func (s *Server) unlock() {
	if s.ensemble != nil {
		s.ensemble.carryOut()
	}
	for _, c := range slices.Backward(s.queued) { // the last connection made the request and waits for its reply
		c.handOver()
	}
	clear(s.queued)
	s.queued = s.queued[:0]
	s.mu.Unlock()
}

// reapEvery is the interval at which the server looks for unused containers and expired nodes. It
// is ZooKeeper's default.
const reapEvery = time.Minute

// keepExpiring expires sessions at every tick, and deletes unused containers and nodes whose TTL has
// passed.
func (s *Server) keepExpiring() {
	tick, reap := time.NewTicker(s.tick), time.NewTicker(reapEvery)
	defer tick.Stop()
	defer reap.Stop()
	for {
		select {
		case <-tick.C:
			s.expire(int64(time.Since(s.start) / s.tick))
		case now := <-reap.C:
			s.reap(now.UnixMilli())
		case <-s.done:
			return
		}
	}
}

func (s *Server) reap(now int64) {
	s.mu.Lock()
	defer s.unlock()
	for _, path := range s.tree.Idle(now) {
		s.apply(tree.Txn{Time: now, Op: tree.Op{Kind: tree.Reap, Path: path}})
	}
}

// A conn is one connection. The server's lock guards the fields that are not used by the
// connection's own goroutines alone.
type conn struct {
	server *Server
	socket net.Conn
	net    net.Conn // the socket, or TLS over it
	host   string   // the client's address
	in     wire.Frames
	out    *outbox

	session *session // nil before it is established and after leave
	watcher tree.Watcher
	who     []tree.Identity // copied on change, never appended to in place
	traffic stats.Traffic
	packets []byte // queued since the lock was acquired
	unasked int    // bytes of notifications among them
	dropped bool   // later requests are ignored
	wrote   int64  // zxid of its last write
	waits   bool   // true while its next write waits for the disk
	held    []byte // a write that was read and must wait for the disk

	line        *replica.Line // in an ensemble; nil before the client asks for a session
	established chan struct{} // closed when the ensemble has answered that, or the connection was left
	closing     bool          // the client asked for the end of its session
	last        bool          // the packets that are queued are the last ones
}

const (
	// handshakeTime limits the time from the connection's start to an established session.
	handshakeTime = 10 * time.Second
	// farewellTime limits the time that a client may take to read its last packets.
	farewellTime = 5 * time.Second
	// idleBuffer is the largest request buffer, in bytes, that a connection keeps.
	idleBuffer = 64 << 10
	// workPerHold limits the work of a batch before it releases the lock. A request, a name or node
	// that is visited, and a watch that fires count as one each.
	workPerHold = 4096
)

// newConn uses TLS if cfg is not nil.
func newConn(s *Server, nc net.Conn, cfg *tls.Config) *conn {
	c := &conn{server: s, socket: nc, net: nc, out: newOutbox()}
	if cfg != nil {
		c.net = tls.Server(nc, cfg)
	}
	c.in = wire.NewFrames(c.net, s.maxPacket, idleBuffer)
	c.host = host(nc)
	c.who = []tree.Identity{c.address()}
	c.traffic.Opened = time.Now()
	c.watcher.Notify = c.notify
	return c
}

// send writes queued packets until the outbox ends, then closes the connection.
func (c *conn) send() {
	c.out.sendTo(c.net, c.server.await)
	c.net.Close()
}

// receive serves the client's requests until the client leaves or is dropped.
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

// encrypt performs the TLS handshake if the connection uses TLS, and adds the subject of the
// client's certificate to its identities.
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
	subject, err := certificates.Subject(chain[0].RawSubject)
	if err != nil {
		return err
	}
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	c.authenticate(tree.Identity{Scheme: tree.X509, ID: subject})
	return nil
}

// serveBatch waits for a request and serves it, together with the requests that have arrived behind
// it, under one lock and up to a limit of work. It reports whether there may be more requests.
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
		s.stats.Received++
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
	s.stats.Took(took)
	c.traffic.Took(began, took)
	return !c.dropped
}

// next returns the held request, or waits for one.
func (c *conn) next() (payload []byte, err error) {
	if payload, c.held = c.held, nil; payload != nil {
		return payload, nil
	}
	return c.in.Next()
}

// leave detaches the connection from its session and its watches.
func (c *conn) leave() {
	c.dropped = true
	c.server.watches.Forget(&c.watcher)
	c.leaveLine()
	if c.session != nil {
		c.session.conn, c.session = nil, nil
	}
}

// drop calls leave and closes the socket immediately. TLS's closing message could wait for the
// client.
func (c *conn) drop() {
	c.leave()
	c.socket.Close()
}
