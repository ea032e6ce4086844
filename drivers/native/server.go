package native

import (
	"cmp"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/drivers/native/tree"
)

// Options are how a server serves. The zero Options are the defaults.
type Options struct {
	// Tick is the unit of session time-outs, which lie between 2 and 20 ticks
	// and end on a tick; 0 means DefaultTick.
	Tick time.Duration
	// SuperDigest is the [Digest] of the credentials that may do everything;
	// empty means that there are none.
	SuperDigest string
}

// DefaultTick is that of Options whose Tick is 0, and ZooKeeper's.
const DefaultTick = 2 * time.Second

// A Server is a ZooKeeper-compatible service of one server.
type Server struct {
	tick        time.Duration
	superDigest string
	start       time.Time
	done        chan struct{}  // closed by Close
	live        sync.WaitGroup // what Close waits for

	mu        sync.Mutex // guards all below
	tree      *tree.Tree
	watches   *tree.Watches
	sessions  map[int64]*session
	lastID    int64 // of a session
	conns     map[*conn]struct{}
	listeners map[net.Listener]struct{}
	queued    []*conn // that have something queued
	stats     stats
	closed    bool
}

// New returns a server that is ready to serve. It runs until Close.
func New(o Options) *Server {
	now := time.Now()
	s := &Server{
		tick:        cmp.Or(o.Tick, DefaultTick),
		superDigest: o.SuperDigest,
		start:       now,
		done:        make(chan struct{}),
		tree:        tree.New(),
		watches:     tree.NewWatches(),
		sessions:    map[int64]*session{},
		lastID:      firstSessionID(now),
		conns:       map[*conn]struct{}{},
		listeners:   map[net.Listener]struct{}{},
	}
	s.live.Go(s.keepHouse)
	return s
}

// unlock hands over what was queued and lets the others in.
func (s *Server) unlock() {
	for _, c := range s.queued {
		c.handOver()
	}
	clear(s.queued)
	s.queued = s.queued[:0]
	s.mu.Unlock()
}

// Serve accepts connections until the server is closed, and then returns nil.
// It closes the listener.
func (s *Server) Serve(l net.Listener) error {
	if !s.addListener(l) {
		return errors.Join(net.ErrClosed, l.Close())
	}
	for {
		nc, err := l.Accept()
		if err != nil {
			return s.removeListener(l, err)
		}
		if err := s.ServeConn(nc); err != nil {
			return s.removeListener(l, err)
		}
	}
}

func (s *Server) addListener(l net.Listener) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.listeners[l] = struct{}{}
	}
	return !s.closed
}

// removeListener returns err unless it is only that the server was closed.
func (s *Server) removeListener(l net.Listener, err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.listeners, l)
	if s.closed {
		return nil
	}
	return errors.Join(err, l.Close())
}

// Dial returns the client's end of an in-memory connection to this server,
// whatever the address.
func (s *Server) Dial(_, _ string, _ time.Duration) (net.Conn, error) {
	client, server := net.Pipe()
	return client, s.ServeConn(server)
}

// ServeConn serves a connection in the background and closes it in the end. On
// a closed server that is at once, and net.ErrClosed.
func (s *Server) ServeConn(nc net.Conn) error {
	c := newConn(s, nc)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errors.Join(net.ErrClosed, nc.Close())
	}
	s.conns[c] = struct{}{}
	s.live.Go(c.receive)
	s.live.Go(c.send)
	return nil
}

// Close ends all connections and listeners and returns when nothing runs any
// more. The state is gone. Closing twice is harmless.
func (s *Server) Close() {
	s.shut()
	s.live.Wait()
}

func (s *Server) shut() {
	s.mu.Lock()
	defer s.unlock()
	if s.closed {
		return
	}
	s.closed = true
	close(s.done)
	for l := range s.listeners {
		l.Close()
	}
	for c := range s.conns {
		c.drop()
	}
}
