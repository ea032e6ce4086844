package server

import (
	"cmp"
	"net"
	"slices"
	"sync"
	"time"

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
		s.live.Go(s.keepSnapshots)
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
