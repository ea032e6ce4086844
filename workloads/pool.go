package workloads

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/metrics/fanout"
	"github.com/stampede-bench/stampede/workloads/exchange"
	"github.com/stampede-bench/stampede/workloads/namespace"
	"github.com/stampede-bench/stampede/workloads/opening"
	"github.com/stampede-bench/stampede/workloads/parallel"
)

// A Pool is the clients of one run and what they need: a fresh subtree of the service, one session
// per client, and the meter that observes them.
type Pool struct {
	Service   drivers.Service
	Form      Form
	instances instances
	Meter     *fanout.Meter
	Window    *metrics.Window
	seed      uint64
	namespace namespace.Path
	// admin creates and removes the subtree and the paths of rounds, in one session after the other.
	admin    drivers.Conn
	upkeep   fanout.Upkeep // what admin requests
	base     string
	watchers []drivers.Conn // the sessions of the preload
	// preloadLost counts those that ended by themselves, and their watches with them.
	preloadLost atomic.Int64
	clients     int   // of all processes
	nodes       int   // approximate number of nodes in the subtree
	grows       bool  // each write may add one
	part        *Part // the sessions of this process
	Slots       []*Slot
	turns       *metrics.TurnTrackers
	faults      *activeFaults // nil in a run without faults
	timeout     time.Duration // of its clients' sessions; 0 if that was not chosen
	opening     opening.Opening
	gone        atomic.Bool     // the run has found that its service is gone: nothing more that it asks would be answered
	waiting     context.Context // ends when nothing waits for the service any more
	endWaiting  context.CancelFunc
	cleaning    atomic.Bool // a session that takes the place of a lost one marks nothing: the marker goes, or has gone
}

// ReadsLag reports whether reads may be older than what the session has already seen. A member of etcd
// answers a serializable read with its own data, and tells of a change before such a read shows it.
func (p Plan) ReadsLag() bool { return p.Service.Info().Reads == "serializable" }

func newPool(p Plan, part *Part) *Pool {
	s := p.Settings
	s.ReadsLag, s.ReadsFresh = p.ReadsLag(), p.Service.Info().Reads == "linearizable"
	window := p.window
	s.window, s.atRate = window, p.Open.Rate.Open()
	c := &Pool{Service: p.Service, Form: p.Form, instances: newInstances(p.Groups, p.Form, s, part),
		Meter: fanout.NewCheckedMeter(window, p.Service.Info().Ordered()), Window: window, part: part,
		namespace: s.namespace(), seed: p.Seed, clients: p.Clients, nodes: p.Clients + p.Preload.Nodes + max(p.Groups, 1)*s.Mix.Keys, grows: s.Mix.Grow,
		faults: newActiveFaults(p, part), timeout: p.SessionTimeout, turns: metrics.NewTurnTrackers(window), opening: opening.New(p.Service, s.ConnectTimeout, s.Joining)}
	c.waiting, c.endWaiting = context.WithCancel(context.Background())
	if servers, _ := p.Faults.Split(); len(servers) > 0 { // those that the run before has broken may not be back
		c.opening.Patience = max(c.opening.Patience, endTime)
	}
	if p.Bin > 0 {
		c.Meter.SetBin(p.Bin)
	}
	return c
}

// NewSettledPool returns the session pool of a settled run, which drives the workload itself.
func NewSettledPool(service drivers.Service, form Form, w Workload, s Settings) *Pool {
	window := metrics.NewWindow()
	base := s.namespace().NewBase()
	return &Pool{Service: service, opening: opening.New(service, s.ConnectTimeout, s.Joining), Form: form, instances: instances{w}, Meter: fanout.NewMeter(window),
		Window: window, namespace: s.namespace(), base: base, part: NewPart(exchange.Everywhere(), base), waiting: context.Background()}
}

// poolCounts are the messages of clients, and the requests of the run itself, until some moment.
type poolCounts struct {
	clients metrics.Counts
	upkeep  metrics.Requests
}

func (c *Pool) counts() poolCounts { return poolCounts{c.Meter.Counts(), c.upkeep.Requests()} }

// create creates the subtree and what the plan has on the service before its clients arrive.
func (c *Pool) create(ctx context.Context, p Plan) error {
	if err := c.Prepare(ctx, p.Clients); err != nil {
		return err
	}
	sessions, err := p.Preload.Create(ctx, c.admin, c.base+"/preload", c.preload)
	c.watchers = sessions
	if err != nil {
		return fmt.Errorf("preload: %w", err)
	}
	return nil
}

// preload opens a session for watches of the preload.
func (c *Pool) preload(ctx context.Context) (drivers.Conn, error) {
	return c.opening.Dial(ctx, drivers.Options{SessionTimeout: c.frameTimeout(), Probe: fanout.Library{Probe: c.Meter.Session()}, OnState: func(s drivers.State) {
		if s == drivers.SessionLost || s == drivers.SessionGivenUp {
			c.preloadLost.Add(1)
		}
	}})
}

// frameTimeout is that of the sessions beside the clients', to outlive the same outages: idle, they are heard less often.
func (c *Pool) frameTimeout() time.Duration {
	return 2 * cmp.Or(c.timeout, drivers.DefaultSessionTimeout)
}

// Prepare creates the subtree and the nodes that n clients share.
func (c *Pool) Prepare(ctx context.Context, n int) error {
	if err := c.attach(ctx, n); err != nil {
		return err
	}
	if err := c.namespace.MakeBase(ctx, c.admin, c.base); err != nil {
		if errors.Is(err, drivers.ErrRefused) {
			c.base = "" // nothing was made
		}
		return err
	}
	if err := c.instances.setup(ctx, c.admin, c.base); err != nil {
		return fmt.Errorf("set up %v: %w", c.Form, err)
	}
	return nil
}

// attach prepares the pool for n clients of all processes, whose nodes are in the part's subtree.
func (c *Pool) attach(ctx context.Context, n int) error {
	c.upkeep.Library = fanout.Library{Probe: c.Meter.Session()}
	o := drivers.Options{SessionTimeout: c.frameTimeout(), Probe: &c.upkeep}
	opened := false
	var err error
	c.admin, err = drivers.Lasting(ctx, func(ctx context.Context) (drivers.Conn, error) {
		conn, err := c.opening.Dial(ctx, o)
		if err == nil && opened && c.base != "" && !c.cleaning.Load() {
			namespace.Mark(ctx, conn, c.base)
		}
		opened = opened || err == nil
		return conn, err
	})
	if err == nil {
		c.instances.attach(c.admin, c.part.Base, n)
	}
	return err
}

// open opens a session for each of the plan's clients in this process, and for their leader if they have one.
func (c *Pool) open(ctx context.Context, p Plan) error {
	if err := c.OpenSessions(ctx, p.Clients, func(_ int, p drivers.Probe) drivers.Probe { return p }); err != nil {
		return err
	}
	if c.Service.Info().Servers < 2 {
		return nil
	}
	// Servers that are not of one ensemble never reach each other's positions. Without this each form would fail in its own way,
	// or take it for a violation.
	return c.Flush(ctx)
}

// OpenSessions opens the sessions. tap wraps the probe of each.
func (c *Pool) OpenSessions(ctx context.Context, n int, tap func(i int, p drivers.Probe) drivers.Probe) error {
	c.Slots = c.instances.slots(n)
	c.Slots = c.Slots[c.part.First:][:min(c.part.Count, len(c.Slots)-c.part.First)]
	c.faults.prepare(c)
	lags := c.Service.Info().Lags()
	for i, s := range c.Slots {
		s.lags = lags
		i += c.part.First
		s.number, s.trackers, s.Tracker = i, c.turns, c.turns.Tracker(i, 0)
		s.Marks, s.Rand = c.Meter.Session(), rand.New(rand.NewPCG(c.seed, uint64(i)))
		s.probe, s.service, s.timeout, s.patience = c.part.Probe(i, tap(i, s.Marks)), c.Service, c.timeout, c.opening.Patience
	}
	return c.opening.All(ctx, len(c.Slots), func(ctx context.Context, i int) error { return c.Slots[i].Open(ctx) })
}

// reopen opens another session of a slot.
func (c *Pool) reopen(ctx context.Context, s *Slot) error {
	return c.opening.Again(ctx, s.Open, len(c.Slots), func() (open int) {
		for _, s := range c.Slots {
			if drivers.State(s.state.Load()) == drivers.Connected {
				open++
			}
		}
		return open
	})
}

// SessionCount returns how many sessions a run with n clients takes.
func SessionCount(w Workload, n int) int {
	if l, ok := w.(leader); ok && l.Leads() {
		n++
	}
	if o, ok := w.(observed); ok {
		n += o.Observers()
	}
	return n
}

// Sessions returns how many sessions a run of the plan takes for its form.
func Sessions(p Plan) int {
	groups := max(p.Groups, 1)
	return groups * SessionCount(p.Form.New(p.Settings), p.Clients/groups)
}

// Flush flushes every session: when it returns, every notification in transit has arrived.
func (c *Pool) Flush(ctx context.Context) error {
	return parallel.ForEach(len(c.Slots)+1, func(i int) error {
		conn := c.admin
		if i < len(c.Slots) {
			conn = c.Slots[i].Conn
		}
		return drivers.Flush(ctx, conn)
	})
}

// Close closes all sessions and removes the subtree. It has its own timeout, since the run's
// context may have ended.
func (c *Pool) Close() error {
	var sessions []drivers.Conn
	for _, s := range c.Slots {
		if s != nil && s.Conn != nil {
			sessions = append(sessions, s.Conn)
		}
	}
	errs := []error{c.closeAll(append(sessions, c.watchers...))} // before their nodes are removed
	if c.admin == nil {
		return errs[0]
	}
	if c.grows {
		c.nodes += int(c.Meter.Counts().Writes)
	}
	ctx, cancel := context.WithTimeout(c.waiting, closeTime+time.Duration(c.nodes)*removeTime)
	defer cancel()
	if c.base != "" {
		c.cleaning.Store(true)
		errs = append(errs, c.namespace.RemoveBase(ctx, c.admin, c.base))
	}
	return errors.Join(append(errs, c.closeAll([]drivers.Conn{c.admin}))...)
}

// closeAll closes sessions. If the service is gone it does not wait for the answers, which will not come.
func (c *Pool) closeAll(sessions []drivers.Conn) error {
	closed := func() error {
		return parallel.ForEach(len(sessions), func(i int) error { return sessions[i].Close() })
	}
	if c.gone.Load() {
		go closed()
		return nil
	}
	return closed()
}

// leaveTime bounds everything that a run does at a service which it has found to be gone: it tries once more to remove its nodes.
const leaveTime = 500 * time.Millisecond

// giveUp makes nothing wait for the service for longer than leaveTime from now, or from when it was first given up.
func (c *Pool) giveUp() {
	if c.gone.CompareAndSwap(false, true) {
		time.AfterFunc(leaveTime, c.endWaiting)
	}
}

// leave gives the service up, and ends the sessions for their clients, which may be trying to remove what they have there, for
// as long as a session lives.
func (c *Pool) leave() {
	c.giveUp()
	for _, s := range c.Slots {
		if conn := s.current.Load(); conn != nil {
			go (*conn).Close()
			if c, ok := (*conn).(drivers.Cutter); ok { // else calls in flight wait until Close gives up
				c.Cut()
			}
		}
	}
}

// closeTime bounds how long Close may take on a service that has stopped answering.
const closeTime = 10 * time.Second

// removeTime is added to closeTime for each node to remove.
const removeTime = time.Millisecond
