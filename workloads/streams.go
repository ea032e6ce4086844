package workloads

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/workloads/namespace"
	"github.com/stampede-bench/stampede/workloads/parallel"
)

// A streaming Client keeps several requests in flight on one session. Each of its streams makes one
// request after the other.
type streaming interface {
	Streams() []Stream
}

// A Stream is one of the clients that take turns concurrently in one session.
type Stream struct {
	Client
	Slot *Slot // the stream's own view
}

// streamsOf returns the streams of the client on the slot.
func streamsOf(c Client, s *Slot) []Stream {
	if p, ok := c.(streaming); ok {
		return p.Streams()
	}
	return []Stream{{c, s}}
}

// pipeline runs all streams concurrently until the run stops or one of them fails. It returns the
// first error.
func (r *runner) pipeline(lanes []Stream) error {
	var all sync.WaitGroup
	var failed atomic.Bool
	var once sync.Once
	var first error
	for _, lane := range lanes {
		all.Go(func() {
			defer lane.Slot.Tracker.Stop()
			for !failed.Load() && !r.stopping.Load() {
				if err := r.turn(lane.Slot, lane.Client); err != nil {
					once.Do(func() { first = err })
					failed.Store(true)
					return
				}
			}
		})
	}
	all.Wait()
	return first
}

// Stream returns a view of the slot for the i-th concurrent request of its session. Stream 0 is the
// slot itself. Each stream has its own random choices and its own arrivals, which outlive the
// session.
func (s *Slot) Stream(i int) *Slot {
	if i == 0 {
		return s
	}
	l := s.view(i, rand.New(rand.NewPCG(s.Rand.Uint64(), uint64(i))))
	if s.pacer != nil {
		for len(s.tickets) < i {
			s.tickets = append(s.tickets, s.pacer.Ticket())
		}
		l.ticket = s.tickets[i-1]
	}
	return l
}

// view returns the slot as its i-th stream sees it.
func (s *Slot) view(i int, random *rand.Rand) *Slot {
	return &Slot{Index: s.Index, Conn: s.Conn, Rand: random, Marks: s.Marks, Stopping: s.Stopping,
		Tracker: s.trackers.of(s.number, i), pacer: s.pacer, name: s.name, faults: s.faults}
}

// FirstStream returns a view of the slot for the first stream of a client that takes the turns of all
// its streams itself. The slot's own turns are no longer tracked.
func (s *Slot) FirstStream() *Slot {
	v := s.view(0, s.Rand)
	s.Tracker = nil
	return v
}

// A Preload is data that is on the service throughout the run and that the run does not use: a
// server with much data may be slower than an empty one.
type Preload struct {
	Nodes   int
	Watches int // on the nodes; none of them fires; 0 without nodes
}

// preloadPerFolder bounds the lists of children used to remove the nodes.
const preloadPerFolder = 1000

// preload creates the preload. A session can have one watch per node, so preload opens as many
// sessions as the watches need.
func (c *Pool) preload(ctx context.Context, p Preload) error {
	if p.Nodes == 0 {
		return nil
	}
	all := namespace.Folders{Path: c.base + "/preload", Nodes: p.Nodes, PerFolder: preloadPerFolder}
	if err := all.Create(ctx, c.admin, nil); err != nil {
		return err
	}
	for armed := 0; armed < p.Watches; armed += p.Nodes {
		s, err := c.Service.Dial(ctx, drivers.Options{Probe: heartbeats{c.Meter.Session()}})
		if err != nil {
			return err
		}
		c.watchers = append(c.watchers, s)
		conn := drivers.Steady(s)
		err = parallel.ForEach(min(p.Nodes, p.Watches-armed), func(i int) error {
			_, _, err := conn.Exists(ctx, all.NodePath(i), func(drivers.Event) {})
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// closePreload closes the sessions of the preload. That happens before its nodes are removed.
func (c *Pool) closePreload() error {
	errs := make([]error, len(c.watchers))
	for i, s := range c.watchers {
		errs[i] = s.Close()
	}
	return errors.Join(errs...)
}
