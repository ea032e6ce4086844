package native

import (
	"cmp"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/drivers/native/journal"
	"github.com/stampede-bench/stampede/drivers/native/tree"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// Options are how a server serves. The zero Options are the defaults.
type Options struct {
	// Tick is the unit of session time-outs, which end on a tick; 0 means
	// DefaultTick.
	Tick time.Duration
	// MinTimeout and MaxTimeout are the shortest and the longest session
	// time-out; 0 means 2 and 20 ticks.
	MinTimeout, MaxTimeout time.Duration
	// MaxSessions is how many sessions may be open; 0 means any number.
	MaxSessions int
	// MaxPacket is the largest request in bytes; 0 means [wire.MaxPacket].
	MaxPacket int
	// Words are the four-letter words that are answered, of [Words]; nil means
	// all.
	Words []string
	// MaxPerHost is how many connections one address may have; 0 means any
	// number.
	MaxPerHost int
	// SuperDigest is the [Digest] of the credentials that may do everything;
	// empty means that there are none.
	SuperDigest string
	// Journal is where the state comes from and every change of it is kept; nil
	// means that it is in memory only. It must be open for longer than the
	// server; where it fails, the server ends.
	Journal *journal.Journal
}

// DefaultTick is that of Options whose Tick is 0, and ZooKeeper's.
const DefaultTick = 2 * time.Second

// A Server is a ZooKeeper-compatible service of one server.
type Server struct {
	tick        time.Duration
	timeouts    [2]time.Duration // the shortest and the longest
	maxSessions int
	maxPacket   int
	maxPerHost  int
	words       []string // nil means all
	superDigest string
	journal     *journal.Journal // nil where nothing is kept
	start       time.Time
	done        chan struct{}  // closed by Close
	live        sync.WaitGroup // what Close waits for

	mu        sync.Mutex // guards all below
	tree      *tree.Tree
	watches   *tree.Watches
	sessions  map[int64]*session
	lastID    int64 // of a session
	conns     map[*conn]struct{}
	perHost   map[string]int        // connections
	listeners map[net.Listener]bool // whether connections begin with a TLS handshake
	queued    []*conn               // that have something queued
	work      int                   // done under the lock since a batch began, see workPerHold
	stats     stats
	closed    bool
}

// New returns a server that is ready to serve. It runs until Close.
func New(o Options) *Server {
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
	if s.journal != nil {
		s.restore()
		s.live.Go(s.endWithJournal)
		s.live.Go(s.keepSnapshots)
	}
	s.live.Go(s.keepHouse)
	return s
}

// unlock hands over what was queued and lets the others in.
func (s *Server) unlock() {
	for _, c := range slices.Backward(s.queued) { // the last is who asked, and waits
		c.handOver()
	}
	clear(s.queued)
	s.queued = s.queued[:0]
	s.mu.Unlock()
}
