package workloads

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
)

// A crew is the clients of one run and what they need: a fresh subtree of the service, one session
// per client, and the meter that observes them.
type crew struct {
	service   drivers.Service
	form      Form
	instances instances
	meter     *metrics.Meter
	seed      uint64
	place     namespace
	// admin creates and removes the subtree and the paths of rounds, uncounted. Only its
	// heartbeats, fences and re-armed watches are metered, because a server counts them among the
	// reads.
	admin    drivers.Conn
	base     string
	watchers []drivers.Conn // the sessions of the preload
	nodes    int            // approximate number of nodes in the subtree
	seats    []*Seat
	cycles   *cycles
	trouble  *trouble      // nil in a run without faults
	patience time.Duration // the session timeout of admin; 0: the default
}

func newCrew(p Plan) *crew {
	s := p.Settings
	// etcd answers a serializable read from whichever member is asked, with that member's data.
	reads := p.Service.Info().Reads
	s.readsLag, s.readsFresh = reads == "serializable", reads == "linearizable"
	var patience time.Duration
	if p.rough {
		patience = roughPatience
	}
	return &crew{service: p.Service, form: p.Form, instances: newInstances(p.Groups, p.Form, s), meter: metrics.NewMeter(),
		place: s.namespace(), seed: p.Seed, nodes: p.Clients + p.Preload.Nodes + max(p.Groups, 1)*s.Mix.Keys,
		trouble: newTrouble(p), patience: patience, cycles: &cycles{all: make(map[cycleKey]*cycle)}}
}

// muster creates the subtree and opens a session for each of the plan's clients, and for their
// leader if they have one. The caller must call dismiss whether or not muster fails.
func (c *crew) muster(ctx context.Context, p Plan) error {
	if err := c.prepare(ctx, p.Clients); err != nil {
		return err
	}
	if err := c.stock(ctx, p.Preload); err != nil {
		return fmt.Errorf("preload: %w", err)
	}
	return c.seat(ctx, p.Clients, func(_ int, p drivers.Probe) drivers.Probe { return p })
}

// prepare creates the subtree and the nodes that n clients share.
func (c *crew) prepare(ctx context.Context, n int) error {
	err := c.reach(func() (err error) {
		admin, err := c.service.Dial(ctx, drivers.Options{Probe: heartbeats{c.meter.Session()}, SessionTimeout: c.patience})
		if err == nil {
			c.admin = admin
		}
		return err
	})
	if err != nil {
		return err
	}
	if c.base, err = c.place.makeBase(ctx, c.admin); err != nil {
		return err
	}
	if err := c.instances.setup(ctx, c.admin, c.base, n); err != nil {
		return fmt.Errorf("set up %v: %w", c.form, err)
	}
	return nil
}

// seat opens the sessions. tap wraps the probe of each.
func (c *crew) seat(ctx context.Context, n int, tap func(i int, p drivers.Probe) drivers.Probe) error {
	c.seats = c.instances.seats(n)
	c.trouble.prepare(c)
	lags := c.service.Info().Lags()
	return inParallel(len(c.seats), func(i int) error {
		s := c.seats[i]
		s.lags = lags
		s.number, s.further, s.cycle = i, c.cycles, c.cycles.of(i, 0)
		s.Marks, s.Rand = c.meter.Session(), rand.New(rand.NewPCG(c.seed, uint64(i)))
		s.probe, s.service = tap(i, s.Marks), c.service
		return c.reach(func() error { return s.open(ctx) })
	})
}

// reach calls open. In a run with faults it retries for up to endTime, since the faults of another
// run may not be over.
func (c *crew) reach(open func() error) error {
	for began := time.Now(); ; {
		err := open()
		if err == nil || c.trouble == nil || !unreached(err) || time.Since(began) > endTime {
			return err
		}
	}
}

// heartbeats is a probe that passes on only what the client library sends by itself and the server
// counts: heartbeats, watches armed again, and fences.
type heartbeats struct{ drivers.Probe }

// Message passes on these messages.
func (h heartbeats) Message(m drivers.Message) {
	switch m.Op {
	case drivers.OpPing, drivers.OpRearm, drivers.OpFence:
		h.Probe.Message(m)
	}
}

// sessions returns how many sessions a run with n clients takes.
func sessions(w Workload, n int) int {
	if l, ok := w.(led); ok && l.Leads() {
		n++
	}
	if o, ok := w.(observed); ok {
		n += o.Observers()
	}
	return n
}

// fence flushes every session: when it returns, every notification in transit has arrived.
func (c *crew) fence(ctx context.Context) error {
	return inParallel(len(c.seats)+1, func(i int) error {
		conn := c.admin
		if i < len(c.seats) {
			conn = c.seats[i].Conn
		}
		return fence(ctx, conn)
	})
}

func fence(ctx context.Context, c drivers.Conn) error {
	f, ok := c.(drivers.Fencer)
	if !ok {
		return fmt.Errorf("fence: %w", drivers.ErrUnsupported)
	}
	return drivers.Repeat(func() error { return f.Fence(ctx) }) // the leader may just have changed
}

// dismiss closes all sessions and removes the subtree. It has its own timeout, since the run's
// context may have ended.
func (c *crew) dismiss() error {
	errs := []error{inParallel(len(c.seats), func(i int) error {
		if s := c.seats[i]; s != nil && s.Conn != nil {
			return s.Conn.Close()
		}
		return nil
	})}
	if c.admin == nil {
		return errs[0]
	}
	errs = append(errs, c.clearOut())
	ctx, cancel := context.WithTimeout(context.Background(), dismissTime+time.Duration(c.nodes)*removeTime)
	defer cancel()
	if c.base != "" {
		errs = append(errs, c.place.removeBase(ctx, c.admin, c.base))
	}
	return errors.Join(append(errs, c.admin.Close())...)
}

// roughPatience is the session timeout of admin in a run with faults, which that session has to
// survive. The service may grant less.
const roughPatience = 2 * time.Minute

// dismissTime bounds how long dismiss may take on a service that has stopped answering.
const dismissTime = 10 * time.Second

// removeTime is added to dismissTime for each node to remove.
const removeTime = time.Millisecond

// open opens a new session for the seat.
func (s *Seat) open(ctx context.Context) error {
	conn, err := s.service.Dial(ctx, s.harm.options(drivers.Options{OnState: s.onState, Probe: s.probe}))
	if err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	s.Conn = conn
	s.harm.opened(conn)
	return nil
}

// atOnce is how many calls inParallel makes at the same time: enough to open sessions quickly, too
// few to be a connection storm.
const atOnce = 32

// inParallel calls f for 0 to n−1, up to atOnce calls at a time, and returns the first error.
func inParallel(n int, f func(i int) error) error {
	var wg sync.WaitGroup
	var first error
	var once sync.Once
	slots := make(chan struct{}, atOnce)
	for i := range n {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			if err := f(i); err != nil {
				once.Do(func() { first = err })
			}
		})
	}
	wg.Wait()
	return first
}
