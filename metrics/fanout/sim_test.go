package fanout

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
)

// A sim is a coordination service as its clients' connections see it: one total order of
// requests, notifications queued before the writer's reply, and connections that deliver at
// random times, each in its own order.
type sim struct {
	rng        *rand.Rand
	meter      *Meter
	positions  bool // notifications carry their positions
	pos        int64
	owners     map[string]*simClient // of the nodes that exist; nil if persistent
	watches    map[simWatch]struct{}
	persistent map[simPersistent]struct{}
	clients    []*simClient
	woke       map[int64]map[int]int64 // the expected result: packets by position of the write, and by client
	faults     *simFaults              // nil: every packet is delivered once
	lasting    bool                    // clients may close, and arm persistent watches
}

// simFaults are the packets that a service loses, or else sends twice.
type simFaults struct {
	lose          bool
	missed, again []string // the watches of lost packets, and those of which a packet came twice
}

type simClient struct {
	session *Session // nil for a stranger: a client that the meter does not see
	id      int
	up      []drivers.Message // sent, not processed
	down    []drivers.Message // answered, not delivered
	closed  bool
}

type simWatch struct {
	client *simClient
	path   string
	child  bool
}

type simPersistent struct {
	client *simClient
	path   string
	tree   bool
}

func (w simPersistent) covers(p string, e drivers.EventType) bool {
	if w.tree {
		return e != drivers.ChildrenChanged && (p == w.path || strings.HasPrefix(p, w.path+"/"))
	}
	return p == w.path
}

var simPaths = []string{"/l", "/l/a", "/l/b", "/l/b/x", "/m"}

func newSim(seed uint64, clients, strangers int, positions bool) *sim {
	return newSimOf(NewMeter(metrics.NewWindow()), seed, clients, strangers, positions)
}

func newSimOf(m *Meter, seed uint64, clients, strangers int, positions bool) *sim {
	s := &sim{
		rng: rand.New(rand.NewPCG(seed, 1)), meter: m, positions: positions, lasting: true,
		owners: map[string]*simClient{}, watches: map[simWatch]struct{}{},
		persistent: map[simPersistent]struct{}{}, woke: map[int64]map[int]int64{},
	}
	for i := range clients {
		c := &simClient{id: i}
		if i >= strangers {
			c.session = s.meter.Session()
		}
		s.clients = append(s.clients, c)
	}
	s.meter.ledger.window.Open(time.Now())
	return s
}

func (s *sim) tell(c *simClient, m drivers.Message) {
	if c.session != nil {
		c.session.Message(m)
	}
}

// step does one thing: a client sends a request, the service processes one, or a connection
// delivers a packet.
func (s *sim) step(asking bool) (idle bool) {
	c := s.clients[s.rng.IntN(len(s.clients))]
	switch s.rng.IntN(3) {
	case 0:
		if asking && !c.closed && len(c.up)+len(c.down) < 4 {
			s.ask(c, s.request())
		}
	case 1:
		if len(c.up) > 0 {
			m := c.up[0]
			c.up = c.up[1:]
			s.process(c, m)
		}
	case 2:
		if len(c.down) > 0 {
			s.tell(c, c.down[0])
			c.down = c.down[1:]
		}
	}
	return !slices.ContainsFunc(s.clients, func(c *simClient) bool { return len(c.up)+len(c.down) > 0 })
}

func (s *sim) ask(c *simClient, m drivers.Message) {
	m.Kind = drivers.Request
	c.closed = m.Op == drivers.OpClose
	s.tell(c, m)
	c.up = append(c.up, m)
}

func (s *sim) request() drivers.Message {
	ops := []drivers.Op{drivers.OpCreate, drivers.OpCreate, drivers.OpDelete, drivers.OpSet,
		drivers.OpGet, drivers.OpExists, drivers.OpChildren, drivers.OpChildren, drivers.OpPing}
	m := drivers.Message{Op: ops[s.rng.IntN(len(ops))]}
	if s.lasting && s.rng.IntN(400) == 0 {
		m.Op = drivers.OpClose
	}
	if m.Op == drivers.OpPing || m.Op == drivers.OpClose {
		return m
	}
	if s.lasting && s.rng.IntN(40) == 0 {
		m.Op = drivers.OpWatchNode + drivers.Op(s.rng.IntN(2))
	}
	m.Path = []byte(simPaths[s.rng.IntN(len(simPaths))])
	m.Watch = m.Op.IsWatch() || m.Op.IsRead() && s.rng.IntN(4) > 0
	if m.Op == drivers.OpCreate && s.rng.IntN(2) == 0 {
		m.Mode = drivers.Ephemeral
	}
	return m
}

func (s *sim) process(c *simClient, m drivers.Message) {
	p := string(m.Path)
	there := s.exists(p)
	switch m.Op {
	case drivers.OpCreate, drivers.OpDelete, drivers.OpSet, drivers.OpClose:
		s.pos++ // failed writes have a position too
		m.Err = s.write(c, m, there)
	case drivers.OpWatchNode, drivers.OpWatchTree:
		s.persistent[simPersistent{c, p, m.Op == drivers.OpWatchTree}] = struct{}{}
	case drivers.OpGet, drivers.OpChildren, drivers.OpExists:
		if !there {
			m.Err = drivers.ErrNoNode
		}
		if m.Watch && (there || m.Op == drivers.OpExists) {
			s.watches[simWatch{c, p, m.Op == drivers.OpChildren}] = struct{}{}
		}
	}
	m.Kind, m.Pos = drivers.Reply, s.pos
	c.down = append(c.down, m)
}

func (s *sim) write(c *simClient, m drivers.Message, there bool) error {
	p := string(m.Path)
	switch {
	case m.Op == drivers.OpClose:
		for p, owner := range maps.Clone(s.owners) {
			if owner == c {
				s.delete(p)
			}
		}
		maps.DeleteFunc(s.watches, func(w simWatch, _ struct{}) bool { return w.client == c })
		maps.DeleteFunc(s.persistent, func(w simPersistent, _ struct{}) bool { return w.client == c })
	case m.Op == drivers.OpCreate && there:
		return drivers.ErrNodeExists
	case m.Op == drivers.OpCreate && path.Dir(p) != "/" && s.owners[path.Dir(p)] != nil:
		return drivers.ErrNoChildrenForEphemerals
	case m.Op == drivers.OpCreate && path.Dir(p) != "/" && !s.exists(path.Dir(p)):
		return drivers.ErrNoNode
	case m.Op == drivers.OpCreate:
		s.owners[p] = nil
		if m.Mode&drivers.Ephemeral != 0 {
			s.owners[p] = c
		}
		s.fire(drivers.Created, simWatch{path: p})
		s.fire(drivers.ChildrenChanged, simWatch{path: path.Dir(p), child: true})
	case !there:
		return drivers.ErrNoNode
	case m.Op == drivers.OpDelete && slices.ContainsFunc(simPaths, func(q string) bool { return path.Dir(q) == p && s.exists(q) }):
		return drivers.ErrNotEmpty
	case m.Op == drivers.OpDelete && s.owners[p] != nil && s.owners[p] != c:
		return drivers.ErrRefused // not simulated: see node.go
	case m.Op == drivers.OpDelete:
		s.delete(p)
	default:
		s.fire(drivers.DataChanged, simWatch{path: p})
	}
	return nil
}

func (s *sim) exists(p string) bool {
	_, ok := s.owners[p]
	return ok
}

func (s *sim) delete(p string) {
	delete(s.owners, p)
	s.fire(drivers.Deleted, simWatch{path: p}, simWatch{path: p, child: true})
	s.fire(drivers.ChildrenChanged, simWatch{path: path.Dir(p), child: true})
}

// fire sends one packet to each session that has any of the watches.
func (s *sim) fire(e drivers.EventType, tables ...simWatch) {
	for _, c := range s.clients {
		fired := false
		var of []string
		for _, w := range tables {
			w.client = c
			if _, ok := s.watches[w]; ok {
				delete(s.watches, w)
				fired = true
				of = append(of, w.String())
			}
		}
		for w := range s.persistent {
			fired = fired || w.client == c && w.covers(tables[0].path, e)
		}
		if !fired {
			continue
		}
		m := drivers.Message{Kind: drivers.Notification, Event: e, Path: []byte(tables[0].path)}
		if s.positions {
			m.Pos = s.pos
		}
		c.down = append(c.down, m)
		if c.session != nil {
			if s.woke[s.pos] == nil {
				s.woke[s.pos] = map[int]int64{}
			}
			s.woke[s.pos][c.id]++
		}
		if f := s.faults; f != nil && c.session != nil {
			switch once := s.rng.IntN(8) == 0; {
			case once && f.lose:
				c.down = c.down[:len(c.down)-1]
				f.missed = append(f.missed, of[0]) // one packet for both of a deleted node
			case once:
				c.down = append(c.down, m)
				f.again = append(f.again, string(m.Path))
			}
		}
	}
}

func (w simWatch) String() string { return fmt.Sprint(w.client.id, " ", w.path, " ", w.child) }

// run takes the given number of steps with new requests and then delivers everything. Now and
// then it calls prune.
func (s *sim) run(steps int) {
	for i := 0; ; i++ {
		idle := s.step(i < steps)
		if s.rng.IntN(10) == 0 {
			s.meter.ledger.prune()
		}
		if i >= steps && idle {
			return
		}
	}
}

func (s *sim) leftover() (n int64) {
	for w := range s.watches {
		if w.client.session != nil {
			n++
		}
	}
	return n
}

// TestHerdEqualsTruth plays random schedules. Every notification must be attributed to the
// write that caused it, whatever the order of delivery, and whether or not notifications carry
// positions.
func TestHerdEqualsTruth(t *testing.T) {
	for _, positions := range []bool{false, true} {
		t.Run(fmt.Sprintf("positions=%v", positions), func(t *testing.T) {
			for seed := range uint64(300) {
				s := newSim(seed, 2+int(seed%7), 0, positions)
				s.run(1500)
				h := s.meter.Herd()
				want := map[int64]int64{}
				var sum int64
				for _, clients := range s.woke {
					want[int64(len(clients))]++
					for _, n := range clients {
						sum += n
					}
				}
				if got := h.Fanout; !maps.Equal(got, want) {
					t.Fatalf("seed %d: triggers by fan-out are %v, in truth %v", seed, got, want)
				}
				if h.Notifications != sum || h.Foreign != 0 || h.Triggers != int64(len(s.woke)) {
					t.Fatalf("seed %d: %+v; in truth %d notifications of %d triggers, none foreign",
						seed, h, sum, len(s.woke))
				}
				if h.Leftover != s.leftover() {
					t.Fatalf("seed %d: %d watches left over, in truth %d", seed, h.Leftover, s.leftover())
				}
			}
		})
	}
}

// TestHerdWithStrangers has clients that the meter does not see. With positions the expected
// result is still known; without them at least no notification gets lost.
func TestHerdWithStrangers(t *testing.T) {
	for _, positions := range []bool{false, true} {
		var foreign int64
		for seed := range uint64(100) {
			s := newSim(seed, 6, 2, positions)
			s.run(1500)
			h := s.meter.Herd()
			var sum int64
			for _, clients := range s.woke {
				for _, n := range clients {
					sum += n
				}
			}
			if h.Notifications != sum {
				t.Fatalf("seed %d: %d notifications, in truth %d", seed, h.Notifications, sum)
			}
			foreign += h.Foreign
			if positions && h.Triggers != int64(len(s.woke)) {
				t.Fatalf("seed %d: %d triggers, in truth %d", seed, h.Triggers, len(s.woke))
			}
		}
		if foreign == 0 {
			t.Fatal("no foreign trigger, though strangers wrote")
		}
	}
}

// TestLedgerForgets checks that the size of the ledger depends on what may still happen, not on
// what has happened.
func TestLedgerForgets(t *testing.T) {
	for _, strangers := range []int{0, 1} {
		for _, positions := range []bool{false, true} {
			s := newSim(7, 5, strangers, positions)
			l := &s.meter.ledger
			for range 10 {
				s.run(3000)
				for _, c := range s.clients {
					s.tell(c, drivers.Message{Kind: drivers.Reply, Op: drivers.OpPing, Pos: s.pos})
				}
				l.prune()
				if n := len(l.writes) + len(l.order) + len(l.waiting) + len(l.foreign); n > 2*len(s.watches) {
					t.Fatalf("%d writes, %d in order, %d waiting, %d strays kept for %d watches",
						len(l.writes), len(l.order), len(l.waiting), len(l.foreign), len(s.watches))
				}
				if len(l.nodes) > len(simPaths)+1 {
					t.Fatalf("%d nodes kept of %d", len(l.nodes), len(simPaths))
				}
			}
		}
	}
}
